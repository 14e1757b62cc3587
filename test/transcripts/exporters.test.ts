import { describe, expect, test } from 'bun:test'
import { limits } from '../../src/limits.ts'
import type { ExportOptions } from '../../src/transcripts/export-options.ts'
import { type ExportFormat, exporters } from '../../src/transcripts/exporters.ts'
import type { Transcript, Utterance } from '../../src/transcripts/transcript.ts'

const defaults: ExportOptions = {
  maxWords: limits.cueWords.default,
  maxChars: limits.cueChars.default,
  maxDurationMs: limits.cueSeconds.default * 1000,
  sentenceAware: true,
  stripChars: '',
  includeSpeakers: 'auto',
  includeTimestamps: false,
}

type Row = [start: number, end: number, speaker: string | null, text: string]

function transcript(rows: Row[], more: Partial<Transcript> = {}): Transcript {
  const utterances = rows.map(
    ([start, end, speaker, text]): Utterance => ({ start, end, text, speaker, confidence: null, words: [] }),
  )
  const speakers = [...new Set(rows.flatMap(([, , speaker]) => speaker ?? []))]
  return {
    full_transcript: rows.map(row => row[3]).join(' '),
    language: 'en',
    duration_seconds: rows.at(-1)?.[1] ?? 2,
    speakers: speakers.length > 0 ? speakers : null,
    utterances,
    ...more,
  }
}

function written(format: ExportFormat, rows: Row[], options: Partial<ExportOptions> = {}): string {
  return exporters[format].write(transcript(rows), { ...defaults, ...options })
}

const talk: Row[] = [
  [0, 1.5, 'SPEAKER 1', 'Hello.'],
  [1.5, 3.25, 'SPEAKER 1', 'How are you?'],
  [3.25, 4, 'SPEAKER 2', 'Fine & <well>.'],
]
const alone = talk.map(([start, end, , text]): Row => [start, end, 'SPEAKER 1', text])
const plain = talk.map(([start, end, , text]): Row => [start, end, null, text])

describe('SubRip', () => {
  test('two speakers are named', () => {
    expect(written('srt', talk)).toBe(
      '1\n00:00:00,000 --> 00:00:01,500\nSpeaker 1: Hello.\n\n' +
        '2\n00:00:01,500 --> 00:00:03,250\nSpeaker 1: How are you?\n\n' +
        '3\n00:00:03,250 --> 00:00:04,000\nSpeaker 2: Fine & <well>.\n',
    )
  })

  test('an arrow in the text does not make a line of times', () => {
    expect(written('srt', [[0, 1, null, '00:01 --> 00:02 ---> x']])).toBe(
      '1\n00:00:00,000 --> 00:00:01,000\n00:01 -> 00:02 -> x\n',
    )
  })

  // An exporter shortens each arrow (`-->`, also with more hyphens) in the text to `->`. A regular expression that
  // scans all hyphens again from each hyphen would take minutes for a million hyphens.
  test('a long row of hyphens is no arrow', () => {
    const hyphens = '-'.repeat(1_000_000)
    expect(written('srt', [[0, 1, null, `${hyphens}x${hyphens}>`]])).toEndWith(`\n${hyphens}x->\n`)
  })

  test('an arrow that is created by stripping does not make a line of times', () => {
    expect(written('srt', [[0, 1, null, '-*-*>']], { stripChars: '*' })).toBe(
      '1\n00:00:00,000 --> 00:00:01,000\n->\n',
    )
  })

  test('hours may have three digits', () => {
    expect(written('srt', [[360_000.0014, 3_600_001.9996, null, 'late']])).toBe(
      '1\n100:00:00,001 --> 1000:00:02,000\nlate\n',
    )
  })

  test('blank lines do not end a cue early', () => {
    expect(written('srt', [[0, 1, null, 'one\r\n\r\n2\n\ntwo']])).toBe(
      '1\n00:00:00,000 --> 00:00:01,000\none 2 two\n',
    )
  })

  test('stripped cues leave no gap in the numbering', () => {
    const rows: Row[] = [
      [0, 1, null, '...'],
      [1, 2, null, 'so.'],
    ]
    expect(written('srt', rows, { stripChars: '.' })).toBe('1\n00:00:01,000 --> 00:00:02,000\nso\n')
  })

  test('an empty transcript is an empty file', () => {
    expect(written('srt', [])).toBe('')
  })
})

describe('WebVTT', () => {
  test('voices have names, and text is escaped', () => {
    expect(written('vtt', talk)).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n<v Speaker 1>Hello.\n\n' +
        '00:00:01.500 --> 00:00:03.250\n<v Speaker 1>How are you?\n\n' +
        '00:00:03.250 --> 00:00:04.000\n<v Speaker 2>Fine &amp; &lt;well&gt;.\n',
    )
  })

  test('a speaker cannot end the voice tag', () => {
    expect(written('vtt', [[0, 1, 'A>\n&B', 'so']], { includeSpeakers: 'true' })).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n<v A&gt; &amp;B>so\n',
    )
  })

  test('an arrow in the text is escaped', () => {
    expect(written('vtt', [[0, 1, null, 'a --> b']])).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na --&gt; b\n',
    )
  })

  test('an empty transcript is only the header', () => {
    expect(written('vtt', [])).toBe('WEBVTT\n')
  })
})

describe('text', () => {
  test('each turn starts with the name of its speaker, and ends with a blank line', () => {
    expect(written('text', talk)).toBe('Speaker 1: Hello. How are you?\n\nSpeaker 2: Fine & <well>.\n')
  })

  test('turns may be written without names', () => {
    expect(written('text', talk, { includeSpeakers: 'false' })).toBe(
      'Hello. How are you?\n\nFine & <well>.\n',
    )
  })

  test('a single speaker is named only on request', () => {
    expect(written('text', alone)).toBe('Hello. How are you? Fine & <well>.\n')
    expect(written('text', alone, { includeSpeakers: 'true' })).toBe(
      'Speaker 1: Hello. How are you? Fine & <well>.\n',
    )
  })

  test('a transcript without speakers is one paragraph', () => {
    expect(written('text', plain, { includeSpeakers: 'true' })).toBe('Hello. How are you? Fine & <well>.\n')
  })

  test('in a script without spaces, utterances are joined without spaces', () => {
    const rows: Row[] = [
      [0, 1, null, 'はい。'],
      [1, 2, null, 'いいえ。'],
    ]
    const spaceless = transcript(rows, { full_transcript: 'はい。いいえ。' })
    expect(exporters.text.write(spaceless, defaults)).toBe('はい。いいえ。\n')
  })

  test('with times each utterance is a paragraph', () => {
    const rows: Row[] = [...talk, [59 * 60 + 59.9, 3599.95, 'SPEAKER 2', 'Bye.']]
    expect(written('text', rows, { includeTimestamps: true })).toBe(
      '[00:00] Speaker 1: Hello.\n\n[00:01] Speaker 1: How are you?\n\n' +
        '[00:03] Speaker 2: Fine & <well>.\n\n[59:59] Speaker 2: Bye.\n',
    )
  })

  test('times have hours when the transcript reaches an hour', () => {
    const rows: Row[] = [
      [5, 6, null, 'early'],
      [3600, 3601, null, 'late'],
    ]
    expect(written('text', rows, { includeTimestamps: true })).toBe('[00:00:05] early\n\n[01:00:00] late\n')
  })

  test('text ignores the limits of cues, but not strip_chars', () => {
    const options = { maxWords: 1, maxChars: 10, maxDurationMs: 1000, stripChars: '.?&<>' }
    expect(written('text', plain, options)).toBe('Hello How are you Fine well\n')
  })

  test('an empty transcript is an empty text', () => {
    expect(written('text', [])).toBe('')
    expect(written('text', [], { includeTimestamps: true })).toBe('')
  })
})

test('auto names speakers only when there are two or more', () => {
  expect(written('srt', alone)).not.toContain('Speaker')
  expect(written('srt', alone, { includeSpeakers: 'true' })).toContain('Speaker 1: Hello.')
  expect(written('vtt', talk, { includeSpeakers: 'false' })).not.toContain('<v')
  expect(written('vtt', plain, { includeSpeakers: 'true' })).not.toContain('<v')
})

test('every format has its content type', () => {
  expect(Object.entries(exporters).map(([name, { type }]) => `${name} ${type}`)).toEqual([
    'srt text/plain; charset=utf-8',
    'vtt text/vtt; charset=utf-8',
    'text text/plain; charset=utf-8',
  ])
})

import { expect, test } from 'bun:test'
import { runAtOnce } from '../../src/base/steps.ts'
import { limits } from '../../src/limits.ts'
import { type CueOptions, cutCues } from '../../src/transcripts/cues.ts'
import type { Transcript, Utterance, Word } from '../../src/transcripts/transcript.ts'

const wide: CueOptions = {
  maxWords: limits.cueWords.max,
  maxChars: limits.cueChars.max,
  maxDurationMs: limits.cueSeconds.max * 1000,
  sentenceAware: false,
  stripChars: '',
}

/** Returns the words of a text, each with a start and an end. Each word lasts one second. */
function words(text: string): Word[] {
  return text.split(' ').map((word, at) => ({ word, start: at, end: at + 1, confidence: null }))
}

function timed(...rows: [string, number, number][]): Word[] {
  return rows.map(([word, start, end]) => ({ word, start, end, confidence: null }))
}

function says(text: string, given: Word[], more: Partial<Utterance> = {}): Utterance {
  const [start, end] = [given[0]?.start ?? 0, given.at(-1)?.end ?? 1]
  return { start, end, text, speaker: null, confidence: null, words: given, ...more }
}

function shown(utterances: Utterance[], options: Partial<CueOptions> = {}): string[] {
  const transcript: Transcript = {
    full_transcript: utterances.map(({ text }) => text).join(' '),
    language: 'en',
    duration_seconds: utterances.at(-1)?.end ?? 0,
    speakers: null,
    utterances,
  }
  return runAtOnce(cutCues(transcript, { ...wide, ...options })).map(
    ({ startMs, endMs, speaker, text }) => `${startMs}-${endMs} ${speaker ? `${speaker}: ` : ''}${text}`,
  )
}

const fox = 'the quick brown fox jumps'
const cases: [string, Utterance[], Partial<CueOptions>, string[]][] = [
  ['an empty transcript has no cues', [], {}, []],
  [
    'a cue has at most max_words words',
    [says(fox, words(fox))],
    { maxWords: 2 },
    ['0-2000 the quick', '2000-4000 brown fox', '4000-5000 jumps'],
  ],
  [
    'a cue has at most max_chars characters',
    [says(fox, words(fox))],
    { maxChars: 15 },
    ['0-3000 the quick brown', '3000-5000 fox jumps'],
  ],
  [
    'one allowed character fewer breaks the cue',
    [says(fox, words(fox))],
    { maxChars: 14 },
    ['0-2000 the quick', '2000-4000 brown fox', '4000-5000 jumps'],
  ],
  [
    'a cue lasts at most max_duration',
    [says(fox, words(fox))],
    { maxDurationMs: 3000 },
    ['0-3000 the quick brown', '3000-5000 fox jumps'],
  ],
  [
    'a pause counts towards the length',
    [says('so what', timed(['so', 0, 1], ['what', 9, 10]))],
    { maxDurationMs: 9000 },
    ['0-1000 so', '9000-10000 what'],
  ],
  [
    'a sentence ends its cue',
    [says('Yes. No! Why? Ok', words('Yes. No! Why? Ok'))],
    { sentenceAware: true },
    ['0-1000 Yes.', '1000-2000 No!', '2000-3000 Why?', '3000-4000 Ok'],
  ],
  [
    'an abbreviation does not end a sentence',
    [says('Dr. Brown. Yes', words('Dr. Brown. Yes'))],
    { sentenceAware: true },
    ['0-2000 Dr. Brown.', '2000-3000 Yes'],
  ],
  [
    'a sentence does not end its cue when sentence_aware is false',
    [says('Yes. No!', words('Yes. No!'))],
    {},
    ['0-2000 Yes. No!'],
  ],
  [
    'quotes and brackets after the mark belong to the sentence',
    [says('(“Yes.”) he «said!» so', words('(“Yes.”) he «said!» so'))],
    { sentenceAware: true },
    ['0-1000 (“Yes.”)', '1000-3000 he «said!»', '3000-4000 so'],
  ],
  [
    'a point inside a word does not end a sentence',
    [says('pi is 3.14 or a.b so', words('pi is 3.14 or a.b so'))],
    { sentenceAware: true },
    ['0-6000 pi is 3.14 or a.b so'],
  ],
  [
    'marks of other scripts end sentences',
    [says('はい。いいえ！さあ', timed(['はい。', 0, 1], ['いいえ！', 1, 2], ['さあ', 2, 3]))],
    { sentenceAware: true },
    ['0-1000 はい。', '1000-2000 いいえ！', '2000-3000 さあ'],
  ],
  [
    'a stripped mark still ends the sentence',
    [says('Yes. No', words('Yes. No'))],
    { sentenceAware: true, stripChars: '.' },
    ['0-1000 Yes', '1000-2000 No'],
  ],
  [
    'a stripped mark that stood alone still ends the sentence',
    [says('Oui ! Non', words('Oui ! Non'))],
    { sentenceAware: true, stripChars: '!' },
    ['0-1000 Oui', '2000-3000 Non'],
  ],
  [
    'a text without spaces has cues without spaces',
    [says('今日は良い', timed(['今日', 0, 1], ['は', 1, 2], ['良い', 2, 3]))],
    { maxChars: 3 },
    ['0-2000 今日は', '2000-3000 良い'],
  ],
  [
    'a text may have both',
    [says('我用 Bun 写的', timed(['我', 0, 1], ['用', 1, 2], ['Bun', 2, 3], ['写', 3, 4], ['的', 4, 5]))],
    {},
    ['0-5000 我用 Bun 写的'],
  ],
  [
    'Thai words have no spaces between them',
    [says('สวัสดีครับ', timed(['สวัสดี', 0, 1], ['ครับ', 1, 2]))],
    {},
    ['0-2000 สวัสดีครับ'],
  ],
  [
    'punctuation that belongs to no word is kept',
    [says('¿Qué? “Hola,” dijo.', words('Qué Hola dijo'))],
    {},
    ['0-3000 ¿Qué? “Hola,” dijo.'],
  ],
  [
    'dashes between words are kept',
    [says('— Yes — he said …', words('Yes he said'))],
    { maxWords: 1 },
    ['0-1000 — Yes —', '1000-2000 he', '2000-3000 said …'],
  ],
  [
    'words that are not in the text are separated by spaces',
    [says('the colour grey', words('the color gray'))],
    {},
    ['0-3000 the color gray'],
  ],
  ['words without a text are separated by spaces', [says('', words('so it is'))], {}, ['0-3000 so it is']],
  [
    'a word longer than max_chars has a cue of its own',
    [says('a Donaudampfschiff b', words('a Donaudampfschiff b'))],
    { maxChars: 10 },
    ['0-1000 a', '1000-2000 Donaudampfschiff', '2000-3000 b'],
  ],
  [
    'a word longer than max_duration has a cue of its own',
    [says('a b c', timed(['a', 0, 1], ['b', 1, 9], ['c', 9, 10]))],
    { maxDurationMs: 2000 },
    ['0-1000 a', '1000-9000 b', '9000-10000 c'],
  ],
  [
    'an emoji is one character',
    [says('😀😀😀 ok', words('😀😀😀 ok'))],
    { maxChars: 6 },
    ['0-2000 😀😀😀 ok'],
  ],
  [
    'an utterance without words is one cue',
    [says('One. Two three four.', [], { start: 1, end: 99 })],
    { maxWords: 1, maxChars: 10, maxDurationMs: 1000, sentenceAware: true },
    ['1000-99000 One. Two three four.'],
  ],
  [
    'utterances never share a cue',
    [says('a', timed(['a', 0, 1])), says('b', timed(['b', 1, 2]))],
    {},
    ['0-1000 a', '1000-2000 b'],
  ],
  [
    'speakers never share a cue',
    [
      says(
        'a b',
        [
          { word: 'a', start: 0, end: 1, confidence: 1, speaker: 'X' },
          { word: 'b', start: 1, end: 2, confidence: 1, speaker: 'Y' },
        ],
        { speaker: 'X' },
      ),
    ],
    {},
    ['0-1000 X: a', '1000-2000 Y: b'],
  ],
  [
    'cues of overlapping speakers are ordered by start',
    [
      says('a c', timed(['a', 0, 3], ['c', 3, 4]), { speaker: 'X' }),
      says('b', timed(['b', 1, 2]), { speaker: 'Y' }),
    ],
    { maxWords: 1 },
    ['0-3000 X: a', '1000-2000 Y: b', '3000-4000 X: c'],
  ],
  [
    'overlapping words are cut at the start of the next',
    [says('a b', timed(['a', 0, 1.5], ['b', 1, 2]))],
    { maxWords: 1 },
    ['0-1000 a', '1000-2000 b'],
  ],
  [
    'a cue without length gets a minimum length',
    [says('a', timed(['a', 5, 5]))],
    {},
    [`5000-${5000 + limits.cueVisibleMsMin} a`],
  ],
  [
    'a cue that is too short to see gets the minimum length, but not the time of the next cue',
    [says('a b c', timed(['a', 5, 5.01], ['b', 5.05, 5.06], ['c', 9, 10]))],
    { maxWords: 1 },
    ['5000-5050 a', `5050-${5050 + limits.cueVisibleMsMin} b`, '9000-10000 c'],
  ],
  [
    'the minimum length ends at the next cue of the speaker',
    [says('a', timed(['a', 5, 5])), says('b', timed(['b', 5.04, 6]))],
    {},
    ['5000-5040 a', '5040-6000 b'],
  ],
  [
    'the minimum length may overlap another speaker',
    [says('a', timed(['a', 5, 5]), { speaker: 'X' }), says('b', timed(['b', 5.04, 6]), { speaker: 'Y' })],
    {},
    ['5000-5100 X: a', '5040-6000 Y: b'],
  ],
  [
    'a word that ends before it starts keeps its start',
    [says('a b', timed(['a', 2, 1], ['b', 3, 4]))],
    {},
    ['2000-4000 a b'],
  ],
  [
    'a word that starts before its predecessor is moved',
    [says('a b', timed(['a', 2, 3], ['b', 1, 4]))],
    { maxWords: 1 },
    ['2000-2100 a', '2000-4000 b'],
  ],
  [
    'words without times follow their predecessor',
    [says('a b c', timed(['a', 1, 2], ['b', Number.NaN, Number.NaN], ['c', 3, 4]))],
    { maxWords: 1 },
    ['1000-2000 a', '2000-2100 b', '3000-4000 c'],
  ],
  [
    'a transcript that is stripped away has no cues',
    [says('... !', words('... !')), says('?', [])],
    { stripChars: '.!?' },
    [],
  ],
  [
    'line breaks and control characters are folded',
    [says('a\r\n\r\nb\u0000c\td', [])],
    {},
    ['0-1000 a bc d'],
  ],
  ['stripping leaves no double space', [says('a - b', [])], { stripChars: '-' }, ['0-1000 a b']],
  [
    'stripped spaces leave no space',
    [says('a b', words('a b')), says('c d', [], { start: 3, end: 4 })],
    { stripChars: ' ' },
    ['0-2000 ab', '3000-4000 cd'],
  ],
  [
    'limits count characters after stripping',
    [says('"abcde" "fghi"', words('"abcde" "fghi"'))],
    { maxChars: 10, stripChars: '"' },
    ['0-2000 abcde fghi'],
  ],
  [
    'strip characters have no special meaning',
    [says('a^b-c]d\\e.f*g', [])],
    { stripChars: '^-]\\.*' },
    ['0-1000 abcdefg'],
  ],
  ['strip characters form no range', [says('a-c b', [])], { stripChars: 'a-c' }, ['0-1000 b']],
  [
    'a surrogate pair is stripped as one character',
    [says('😀a😁', [])],
    { stripChars: '😀' },
    ['0-1000 a😁'],
  ],
  [
    'a combining mark is a character of its own',
    [says('cafe\u0301', [])],
    { stripChars: '\u0301' },
    ['0-1000 cafe'],
  ],
  ['a lone surrogate becomes the replacement character', [says('a\ud83d', [])], {}, ['0-1000 a\ufffd']],
]

test.each(cases)('%s', (_, utterances, options, expected) => {
  expect(shown(utterances, options)).toEqual(expected)
})

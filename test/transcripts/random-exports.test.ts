// Tests exports of random transcripts with random options. Strict parsers read the exported SRT and WebVTT files.

import { expect, test } from 'bun:test'
import type { ExportOptions } from '../../src/transcripts/export-options.ts'
import { exporters } from '../../src/transcripts/exporters.ts'
import type { Transcript, Utterance, Word } from '../../src/transcripts/transcript.ts'
import { type Random, seeded } from '../support/random.ts'

type Read = { startMs: number; endMs: number; speaker: string | null; text: string }
/**
 * A word of a random transcript. `text` contains the word's index, by which the test finds the word in a cue
 * (subtitle).
 */
type Known = { utterance: number; speaker: string | null; endsSentence: boolean; text: string; endMs: number }

const rounds = 1500

test('cues of random transcripts obey every limit and lose no word', () => {
  const random = seeded(20_261_120)
  let cues = 0
  for (let round = 0; round < rounds; round += 1) {
    const { transcript, known } = randomTranscript(random)
    const options = randomOptions(random)
    try {
      const srt = readSrt(exporters.srt.write(transcript, options))
      const vtt = readVtt(exporters.vtt.write(transcript, options))
      expect(vtt.map(({ text }) => text.replace(/-+>/g, '->'))).toEqual(
        srt.map(({ text }) => text.replace(/^Speaker \d+: /, '')),
      )
      expect(vtt.map(({ startMs, endMs }) => [startMs, endMs])).toEqual(
        srt.map(({ startMs, endMs }) => [startMs, endMs]),
      )
      expectCues(vtt, transcript, known, options)
      expectText(exporters.text.write(transcript, options), known)
      cues += vtt.length
    } catch (error) {
      console.error(`round ${round}`, JSON.stringify({ options, transcript }))
      throw error
    }
  }
  expect(cues).toBeGreaterThan(rounds)
})

/**
 * Checks that the cues (subtitles) contain all words in order and obey all limits. The limits do not apply to a cue of
 * one word. If an utterance of the transcript has no word times, the limits apply to no cue. The first word of a cue
 * must not fit into the previous cue of the same utterance and speaker.
 */
function expectCues(cues: Read[], transcript: Transcript, known: Known[], options: ExportOptions): void {
  const { maxWords, maxChars, maxDurationMs, sentenceAware } = options
  const aligned = transcript.utterances.every(({ words }) => words.length > 0)
  const named =
    options.includeSpeakers === 'auto'
      ? (transcript.speakers?.length ?? 0) > 1
      : options.includeSpeakers === 'true'
  const inOrder = cues.map(cue => ({ ...cue, ids: numbers(cue.text) }))
  for (const [at, cue] of inOrder.entries()) {
    expect(cue.endMs).toBeGreaterThan(cue.startMs)
    expect(cue.startMs).toBeGreaterThanOrEqual(inOrder[at - 1]?.startMs ?? 0)
    const said = cue.ids.map(id => known[id]!)
    expect(new Set(said.map(({ utterance }) => utterance)).size).toBe(1)
    expect(new Set(said.map(({ speaker }) => speaker)).size).toBe(1)
    expect(cue.speaker).toBe(named ? (said[0]!.speaker?.replace('SPEAKER', 'Speaker') ?? null) : null)
    if (!aligned || said.length === 1) continue
    expect(said.length).toBeLessThanOrEqual(maxWords)
    expect([...cue.text].length).toBeLessThanOrEqual(maxChars)
    expect(cue.endMs - cue.startMs).toBeLessThanOrEqual(maxDurationMs)
    if (sentenceAware) expect(said.slice(0, -1).some(({ endsSentence }) => endsSentence)).toBe(false)
  }
  const together = inOrder.toSorted((one, other) => one.ids[0]! - other.ids[0]!)
  expect(together.flatMap(({ ids }) => ids)).toEqual(known.map((_, id) => id))
  for (const [at, next] of together.entries()) {
    const cue = together[at - 1]
    const [last, first] = [known[next.ids[0]! - 1], known[next.ids[0]!]!]
    if (!cue || !last || last.utterance !== first.utterance) continue
    const room =
      [...cue.text].length + [...first.text].filter(each => !options.stripChars.includes(each)).length
    expect(
      last.speaker !== first.speaker ||
        cue.ids.length === maxWords ||
        room + 1 > maxChars ||
        !(first.endMs - cue.startMs <= maxDurationMs) ||
        (sentenceAware && last.endsSentence),
    ).toBe(true)
  }
}

function expectText(text: string, known: Known[]): void {
  expect(
    numbers(text.replace(/^\[[\d:]+\] /gm, '').replace(/^Speaker \d+: /gm, '')).toSorted((a, b) => a - b),
  ).toEqual(known.map((_, id) => id))
  expect(text).not.toMatch(/\n\n\n|^\n|[^\n]$|[^\n]\n[^\n]/)
}

function numbers(text: string): number[] {
  return [...text.matchAll(/w(\d+)w/g)].map(([, digits]) => Number(digits))
}

function readSrt(file: string): Read[] {
  if (file === '') return []
  expect(file.endsWith('\n')).toBe(true)
  return file
    .slice(0, -1)
    .split('\n\n')
    .map((block, at) => {
      const [, index, times, text] = /^(\d+)\n(\S+ --> \S+)\n([^\n]+)\n?$/.exec(block) ?? []
      expect(index).toBe(String(at + 1))
      expect(text).not.toContain('-->')
      return { ...readTimes(times!, /^(\d{2,}):([0-5]\d):([0-5]\d),(\d{3})$/), speaker: null, text: text! }
    })
}

function readVtt(file: string): Read[] {
  const [header, ...blocks] = file.replace(/\n$/, '').split('\n\n')
  expect(header).toBe('WEBVTT')
  return blocks.map(block => {
    const [, times, speaker, text] = /^(\S+ --> \S+)\n(?:<v ([^<>\n]+)>)?([^<>\n]+)\n?$/.exec(block) ?? []
    expect(text).not.toMatch(/&(?!amp;|lt;|gt;)/)
    return {
      ...readTimes(times!, /^(\d{2,}):([0-5]\d):([0-5]\d)\.(\d{3})$/),
      speaker: speaker ?? null,
      text: text!.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
    }
  })
}

function readTimes(line: string, pattern: RegExp): { startMs: number; endMs: number } {
  const [startMs, endMs] = line.split(' --> ').map(time => {
    const [, hours, minutes, seconds, ms] = pattern.exec(time)?.map(Number) ?? []
    return ((hours! * 60 + minutes!) * 60 + seconds!) * 1000 + ms!
  })
  expect([startMs, endMs]).not.toContain(Number.NaN)
  return { startMs: startMs!, endMs: endMs! }
}

const before = [
  'a',
  'word',
  'über',
  '-->',
  '<i>',
  '&',
  '今日',
  'สวัส',
  '😀',
  '(“',
  'Donaudampfschifffahrt',
  '&amp;',
  'é',
]
const after = ['', '', '', ',', '.', '?', '!”', '。', '…', '-->', '</i>', '&lt;', 'x.y', '다']
const endings = ['.', '?', '!”', '。', '…']

function randomTranscript(random: Random): { transcript: Transcript; known: Known[] } {
  const known: Known[] = []
  const speakers =
    random.below(3) === 0 ? null : Array.from({ length: 1 + random.below(3) }, (_, at) => `SPEAKER ${at + 1}`)
  const aligned = random.below(5) > 0
  let clock = random.below(10) === 0 ? 360_000 : 0
  const utterances = Array.from({ length: random.below(6) }, (_, utterance): Utterance => {
    const speaker = speakers && random.pick(speakers)
    const joint = random.pick(['', ' ', ' '])
    clock = Math.max(0, clock + random.pick([-1, 0, 0, 0.4, 3]))
    const start = clock
    const words = Array.from({ length: 1 + random.below(14) }, (): Word => {
      const ending = random.pick(after)
      const word = `${random.pick(before)}w${known.length}w${ending}`
      clock = Math.max(0, clock + random.pick([0, 0, 0.01, 0.3, 1.5, -0.2]))
      const from = clock
      clock += random.pick([0, 0.2, 0.2004, 0.7, 4])
      const lost = random.below(25) === 0
      const heardBy = speakers && random.below(8) === 0 && aligned ? random.pick(speakers) : speaker
      const endMs = lost ? Number.NaN : Math.round(clock * 1000)
      known.push({ utterance, speaker: heardBy, endsSentence: endings.includes(ending), text: word, endMs })
      return {
        word,
        start: lost ? Number.NaN : from,
        end: lost ? Number.NaN : clock,
        confidence: null,
        ...(heardBy === null ? {} : { speaker: heardBy }),
      }
    })
    const text = words.map(({ word }) => word).join(random.below(9) === 0 ? '\n\n' : joint)
    return { start, end: clock, text, speaker, confidence: null, words: aligned ? words : [] }
  })
  const full_transcript = utterances.map(({ text }) => text).join(random.pick(['', ' ']))
  return {
    transcript: { full_transcript, language: 'xx', duration_seconds: clock, speakers, utterances },
    known,
  }
}

function randomOptions(random: Random): ExportOptions {
  return {
    maxWords: 1 + random.below(random.pick([5, 50])),
    maxChars: 10 + random.below(random.pick([20, 490])),
    maxDurationMs: 1000 * (1 + random.below(random.pick([5, 60]))),
    sentenceAware: random.below(2) === 0,
    includeSpeakers: random.pick(['true', 'false', 'auto']),
    stripChars: random.pick(['', '', '.,', '<>&', '-', 'é😀', '^$]\\', '“”']),
    includeTimestamps: random.below(2) === 0,
  }
}

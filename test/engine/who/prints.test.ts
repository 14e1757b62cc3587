import { expect, test } from 'bun:test'
import { sampleRate } from '../../../src/engine/audio.ts'
import { nameSpeakers } from '../../../src/engine/names.ts'
import { turnsOfMain } from '../../../src/engine/print.ts'
import type { Embedder } from '../../../src/engine/who/embedder.ts'
import { namesOf } from '../../../src/engine/who/known-voices.ts'
import { printsOf } from '../../../src/engine/who/prints.ts'
import { longestSpans } from '../../../src/engine/who/sound-spans.ts'
import type { Voices } from '../../../src/engine/who/voices.ts'
import { transcriptWith } from '../../support/transcripts.ts'

/**
 * A fake embedder. The only feature of a frame is its first sample. A positive mean of the features becomes the first
 * value of the embedding. A negative mean becomes the second value, without its sign.
 */
const embedder: Embedder = {
  width: 1,
  sizeMin: 1,
  firstMiddle: 0,
  features: sound => Float32Array.from({ length: sound.length / 160 }, (_, frame) => sound[frame * 160] ?? 0),
  withoutNoise: features => features,
  embed: parts =>
    parts.map(part => {
      const mean = part.reduce((sum, value) => sum + value, 0) / part.length
      return Float32Array.of(Math.max(0, mean), Math.max(0, -mean))
    }),
}

const seconds = (from: number, to: number) => ({ from: from * sampleRate, to: to * sampleRate })

/** Yields sound in parts of half a second. Each value fills ten seconds. */
async function* soundOf(values: readonly number[]): AsyncGenerator<Float32Array> {
  for (const value of values)
    for (let part = 0; part < 20; part++) yield new Float32Array(sampleRate / 2).fill(value)
}

test('a print is made of the longest spans, up to 30 seconds', () => {
  const spans = [seconds(0, 12), seconds(20, 23), seconds(40, 40.5), seconds(50, 70)]
  expect(longestSpans(spans)).toEqual([seconds(0, 10), seconds(50, 70)])
})

test('each print is made of the sound of its own spans, and needs five seconds', async () => {
  const groups = [[seconds(1, 9), seconds(20, 30)], [seconds(10.25, 16.25)], [seconds(12, 16)], []]
  const prints = await printsOf(embedder, soundOf([1, -1, 1]), groups)
  expect(prints.map(print => print && [...print])).toEqual([[1, 0], [0, 1], null, null])
  expect(await printsOf(embedder, soundOf([1]), [[seconds(0, 5)]])).toEqual([Float32Array.of(1, 0)])
})

test('the recording is read up to the last span, and no further', async () => {
  let read = 0
  async function* counted() {
    for await (const part of soundOf([1, 1])) {
      read += part.length
      yield part
    }
  }
  await printsOf(embedder, counted(), [[seconds(0, 2)], [seconds(3, 9)]])
  expect(read).toBe(9 * sampleRate)
})

test('silence has a voice print of zeros, and a print with NaN is no print', async () => {
  expect(await printsOf(embedder, soundOf([0]), [[seconds(0, 6)]])).toEqual([Float32Array.of(0, 0)])
  expect(await printsOf(embedder, soundOf([Number.NaN]), [[seconds(0, 6)]])).toEqual([null])
})

test('a longer part of the speech counts more, and each sound is at its own place in its span', async () => {
  // A span is divided into parts of 2.4 s, and each part gets an embedding. A last part under 0.8 s is left out. The
  // sound changes from 1 to -1 at 10 s. The second group is one span from 5 s to 15 s, so its third part has 0.2 s of
  // the value 1 and 2.2 s of -1: its mean is -2 / 2.4.
  const groups = [[seconds(0, 4.8), seconds(10, 11.2)], [seconds(5, 15)]]
  const prints = await printsOf(embedder, soundOf([1, -1]), groups)
  const ratios = prints.map(print => (print?.[1] ?? 0) / (print?.[0] ?? 0))
  expect(ratios).toEqual([1.2 / 4.8, (1 + 2 / 2.4) / 2].map(ratio => expect.closeTo(ratio, 3)))
})

test('the print of a file is made of its main speaker, if all others together speak a tenth as long or less', () => {
  const turn = (speaker: number, from: number, to: number) => ({ speaker, ...seconds(from, to) })
  const main = [turn(2, 1, 13), turn(2, 14, 22)]
  expect(turnsOfMain([turn(1, 0, 1), ...main, turn(0, 22, 23)])).toEqual(main)
  expect(() => turnsOfMain([turn(1, 0, 1), ...main, turn(0, 22, 23.1)])).toThrow('more than one speaker')
  expect(turnsOfMain([])).toEqual([])
})

test('the most alike pair gets the name, and each name is given once', () => {
  const known = [
    { name: 'Ann', model: 'm', print: [1, 0] },
    { name: 'Ben', model: 'm', print: [0.8, 0.6] },
  ]
  const prints = [Float32Array.of(0.9, 0.436), Float32Array.of(1, 0), null, Float32Array.of(0, -1)]
  expect(namesOf(prints, known, 0.7)).toEqual(['Ben', 'Ann', null, null])
  expect(namesOf(prints, known, 0.99)).toEqual([null, 'Ann', null, null])
  expect(namesOf(prints, known.slice(0, 1), 0.7)).toEqual([null, 'Ann', null, null])
})

test('the speakers of a transcript get names, and voices of another model are named in a warning', async () => {
  const long =
    'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen'
  const transcript = transcriptWith([long, long, long], ['SPEAKER 1', 'SPEAKER 2'])
  const voices = { name: 'm', embedder, profile: { sameVoice: 0.8 } } as unknown as Voices
  const known = [
    { name: 'Ann', model: 'm', print: [0, 1] },
    { name: 'Old', model: 'other', print: [1, 0] },
  ]
  const warned = { ...transcript, warnings: ['for tests'] }
  const named = await nameSpeakers(voices, warned, known, () => soundOf([1, -1, 1]))
  expect(named.speakers).toEqual(['SPEAKER 1', 'Ann'])
  expect(named.utterances.map(({ speaker }) => speaker)).toEqual(['SPEAKER 1', 'Ann', 'SPEAKER 1'])
  expect(named.utterances[1]?.words[0]?.speaker).toBe('Ann')
  expect(named.warnings).toEqual(['for tests', expect.stringContaining('were not compared: Old.')])
  const unread = await nameSpeakers(voices, transcript, known.slice(1), () => soundOf([]))
  expect(unread).toEqual({ ...transcript, warnings: [expect.stringContaining('Old.')] })
  expect(await nameSpeakers(voices, transcript, [], () => soundOf([]))).toBe(transcript)
  const silent = transcriptWith([])
  expect(await nameSpeakers(voices, silent, known, () => soundOf([]))).toBe(silent)
})

import { expect, test } from 'bun:test'
import { samplesPerFrame } from '../../../src/engine/audio.ts'
import { placeInRecording } from '../../../src/engine/hear/place.ts'
import type { Whisper } from '../../../src/engine/hear/whisper.ts'
import { windowOf } from '../../../src/engine/hear/windows.ts'
import { tokenizerOf } from '../../support/tokenizer.ts'

const words = [' one', ' two.', ' three', ' four.']
const [end, firstTimestamp] = [90, 100]
const tokenizer = tokenizerOf(words)
// The parts of a model that placing reads.
const whisper = { facts: { end, firstTimestamp }, tokenizer } as unknown as Whisper

const [frames, sampleRate] = [500, 16_000]

/** A hypothesis whose tokens attend to one range of frames each. */
function hypothesis(tokens: number[], ranges: [number, number][]) {
  return {
    tokens,
    logProbabilities: tokens.map(() => -0.1),
    attention: ranges.map(([from, to]) =>
      Float32Array.from({ length: frames }, (_, frame) =>
        frame >= from && frame < to ? 1 / (to - from) : 1e-5,
      ),
    ),
    frames,
    unfinished: null,
    noSpeech: 0,
    logProbability: -0.1,
    temperature: 0,
    verdict: 'good' as const,
  }
}

const at = (frame: number) => firstTimestamp + frame
const anywhere: [number, number] = [0, frames]

test('a word lies in the recording where its speech is, after a pause that was cut out too', () => {
  // Ten seconds lie between the two pieces; the window keeps half a second of them.
  const window = windowOf([
    { from: 0, to: 2 * sampleRate },
    { from: 12 * sampleRate, to: 15 * sampleRate },
  ])
  const second = Math.round(window.pieces[1]!.at / samplesPerFrame)
  const tokens = [at(10), 0, 1, at(80), at(second + 20), 2, 3, at(second + 120)]
  const texts = placeInRecording(
    whisper,
    window,
    hypothesis(tokens, [
      anywhere,
      [10, 40],
      [40, 80],
      [80, 90],
      anywhere,
      [second + 20, second + 70],
      [second + 70, second + 120],
      [second + 120, second + 130],
      anywhere,
    ]),
    'en',
    true,
  )
  expect(texts.map(({ text }) => text)).toEqual([' one', ' two.', ' three', ' four.'])
  const begins = texts.map(({ from }) => from / sampleRate)
  const expected = [0.2, 0.8, 11.75 + 0.4, 11.75 + 1.4]
  for (const [index, begin] of begins.entries()) expect(Math.abs(begin - expected[index]!)).toBeLessThan(0.15)
})

test('the times of words have the order of the text, whatever the attention', () => {
  const window = windowOf([{ from: 0, to: 8 * sampleRate }])
  const tokens = [at(10), 0, 1, at(150), at(151), 2, 3, at(300)]
  const ranges: [number, number][] = [
    anywhere,
    [100, 150],
    [20, 60],
    anywhere,
    anywhere,
    [90, 120],
    [200, 250],
    [250, 260],
    anywhere,
  ]
  const texts = placeInRecording(whisper, window, hypothesis(tokens, ranges), 'en', true)
  expect(texts.map(({ text }) => text)).toEqual([' one', ' two.', ' three', ' four.'])
  expect(texts.map(({ from }) => from)).toEqual(texts.map(({ from }) => from).toSorted((a, b) => a - b))
})

test('without words there are segments with the times of their time tokens', () => {
  const window = windowOf([{ from: sampleRate, to: 9 * sampleRate }])
  const tokens = [at(10), 0, 1, at(100), at(150), 2, 3]
  const texts = placeInRecording(whisper, window, { ...hypothesis(tokens, []), attention: [] }, 'en', false)
  expect(texts.map(({ text, from, to }) => [text, from / sampleRate, to / sampleRate])).toEqual([
    [' one two.', 1.2, 3],
    [' three four.', 4, 9],
  ])
})

test('a hypothesis judged as silence has no text', () => {
  const window = windowOf([{ from: 0, to: sampleRate }])
  const texts = placeInRecording(
    whisper,
    window,
    { ...hypothesis([0], [anywhere]), verdict: 'silence' },
    'en',
    true,
  )
  expect(texts).toEqual([])
})

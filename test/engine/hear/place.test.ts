import { expect, test } from 'bun:test'
import { samplesPerFrame } from '../../../src/engine/audio.ts'
import { estimatedTimes } from '../../../src/engine/hear/estimate.ts'
import { placeInRecording } from '../../../src/engine/hear/place.ts'
import type { Whisper } from '../../../src/engine/hear/whisper.ts'
import { windowOf } from '../../../src/engine/hear/windows.ts'
import { tokenizerOf } from '../../support/tokenizer.ts'

const words = [' one', ' two.', ' three', ' four.', ',']
const [end, firstTimestamp] = [90, 100]
const tokenizer = tokenizerOf(words)
// A model with only the fields that `placeInRecording` reads.
const whisper = { facts: { end, firstTimestamp }, tokenizer } as unknown as Whisper

const [frames, sampleRate] = [500, 16_000]

/** Returns a fake decoding result. Token n attends to the frames in `ranges[n]`. */
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
    repeats: false,
    verdict: 'good' as const,
  }
}

/** Returns a speech span without padding. `from` and `to` are in seconds. */
function speech(from: number, to: number) {
  const voice = { from: from * sampleRate, to: to * sampleRate }
  return { ...voice, voice }
}

const span = (from: number, to: number) => ({ from, to })
const at = (frame: number) => firstTimestamp + frame
const anywhere: [number, number] = [0, frames]

test('the times of a word are those of its speech in the recording, even after a pause that was shortened', () => {
  // Between the two speech spans are ten seconds in the recording, but only one second in the window.
  const window = windowOf([speech(0, 2), speech(12, 15)])
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
  )
  expect(texts.map(({ text }) => text)).toEqual([' one', ' two.', ' three', ' four.'])
  const begins = texts.map(({ from }) => from / sampleRate)
  const expected = [0.2, 0.8, 11.5 + 0.4, 11.5 + 1.4]
  for (const [index, begin] of begins.entries()) expect(Math.abs(begin - expected[index]!)).toBeLessThan(0.15)
})

test('the times of words have the order of the text, whatever the attention is', () => {
  const window = windowOf([speech(0, 8)])
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
  const texts = placeInRecording(whisper, window, hypothesis(tokens, ranges), 'en')
  expect(texts.map(({ text }) => text)).toEqual([' one', ' two.', ' three', ' four.'])
  expect(texts.map(({ from }) => from)).toEqual(texts.map(({ from }) => from).toSorted((a, b) => a - b))
})

test('a pause belongs to no word: not to the one before a comma, nor to the one after the pause', () => {
  const window = windowOf([speech(0, 2), speech(2.9, 5)])
  const tokens = [at(0), 0, 4, 2, 1, at(240)]
  // In real models, the attention of a token next to a pause often includes the pause. In `commaTakes`, the token is
  // the comma before the pause. In `wordTakes`, it is the word after the pause.
  const commaTakes = [anywhere, [0, 60], [60, 140], [140, 180], [180, 240], [240, 250]]
  const wordTakes = [anywhere, [0, 60], [60, 70], [70, 150], [150, 240], [240, 250]]
  for (const [ranges, comma] of [
    [commaTakes, true],
    [wordTakes, false],
  ] as const) {
    const ids = comma ? tokens : [at(0), 0, 3, 2, 1, at(240)]
    const texts = placeInRecording(whisper, window, hypothesis(ids, ranges as [number, number][]), 'en')
    for (const { from, to } of texts) expect(from / sampleRate >= 2.8 || to / sampleRate <= 2.1).toBe(true)
    const third = texts.find(({ text }) => text === ' three')!
    expect(third.from / sampleRate).toBeGreaterThan(2.7)
  }
})

test('a word after a pause of less than 0.45 s may start in it, at most 0.18 s after the start of its attention', () => {
  const ids = [at(0), 0, 3, 2, 1, at(240)]
  const startOf = (second: number, attention: number) => {
    const window = windowOf([speech(0, 2), speech(second, 5)])
    // The attention of ` four.` ends at the frame `attention`, and the attention of ` three` begins there.
    const ranges = [anywhere, [0, 60], [60, attention], [attention, 150], [150, 240], [240, 250]]
    const texts = placeInRecording(whisper, window, hypothesis(ids, ranges as [number, number][]), 'en')
    const three = texts.findIndex(({ text }) => text === ' three')
    expect(texts[three]!.from).toBeGreaterThanOrEqual(texts[three - 1]!.to)
    return texts[three]!.from / sampleRate
  }
  // The pause lasts from 2 s to 2.4 s. The attention of ` three` begins at 2.02 s (frame 101). The word starts 0.18 s
  // later, at 2.2 s.
  expect(startOf(2.4, 101)).toBeCloseTo(2.2, 1)
  // The attention begins at 2.3 s (frame 115). 0.18 s later, at 2.48 s, the pause is over. So the start of the word is
  // moved only to 2.32 s, which is 0.08 s before the end of the pause. Voice detection misses soft sounds at the start
  // of speech, so the word may begin 0.08 s before the detected end.
  expect(startOf(2.4, 115)).toBeCloseTo(2.32, 1)
  // The pause lasts from 2 s to 2.5 s. It is not short (less than 0.45 s). So the word starts at 2.42 s, 0.08 s before
  // the end of the pause.
  expect(startOf(2.5, 101)).toBeCloseTo(2.42, 2)
})

test('a word after a pause has at least a minimum length, but takes no time from the previous word', () => {
  const window = windowOf([speech(0, 2), speech(2.9, 5)])
  const tokens = [at(0), 0, 3, 2, 1, at(240)]
  // The word ` three` attends only to frame 144 (the last of the pause) and frame 145 (the first with speech). It gets
  // the minimum length of a word after a pause: 0.12 s.
  const short: [number, number][] = [anywhere, [0, 60], [60, 144], [144, 146], [146, 240], [240, 250]]
  const texts = placeInRecording(whisper, window, hypothesis(tokens, short), 'en')
  const three = texts.find(({ text }) => text === ' three')!
  expect((three.to - three.from) / sampleRate).toBeCloseTo(0.12, 5)
  expect(three.from / sampleRate).toBeGreaterThan(2.7)
  // Without a pause before it, the word ` three` starts at the end of the previous word.
  const dense = placeInRecording(
    whisper,
    windowOf([speech(0, 5)]),
    hypothesis([at(0), 0, 2, 1, at(240)], [anywhere, [0, 144], [144, 146], [146, 240], [240, 250]]),
    'en',
  )
  expect(dense[1]!.text).toBe(' three')
  expect(dense[1]!.from).toBe(dense[0]!.to)
  expect((dense[1]!.to - dense[1]!.from) / sampleRate).toBeLessThan(0.12)
})

test('a word after a long pause lies in its own speech, although its attention includes the whole pause', () => {
  const spanOfLast = (ids: number[], from: number, to: number) => {
    const window = windowOf([speech(0, 2), speech(to - 0.6, to)])
    const frame = Math.round(to / 0.02)
    const ranges: [number, number][] = [anywhere, [0, 60], [60, 98], anywhere, anywhere]
    const tokens = [at(0), ...ids.slice(0, 2), at(98), at(100), ...ids.slice(2), at(frame)]
    ranges.push([Math.round(from / 0.02), frame], [frame, frame + 10])
    const last = placeInRecording(whisper, window, hypothesis(tokens, ranges), 'en').at(-1)!
    return [last.from / sampleRate, last.to / sampleRate]
  }
  // Each list has the ids of words. The first text is ` one two. four.`, and the second text is ` one three three`. The
  // last word of a text is placed in one speech span (a span with speech). The frames of its attention may overlap
  // several speech spans. A word with a full stop then usually gets the first of them. A word without a full stop gets
  // the last of them. So both kinds of words are tested.
  for (const ids of [
    [0, 1, 3],
    [0, 2, 2],
  ]) {
    const [from, to] = spanOfLast(ids, 2.04, 4.5)
    expect(from).toBeGreaterThan(3.7)
    expect(to).toBeGreaterThan(4.4)
  }
})

test('a word with a full stop is not placed in speech that it hardly overlaps', () => {
  const window = windowOf([speech(0, 2), speech(2.6, 3.2)])
  // The attention of ` four.` begins at 1.96 s, so it overlaps the first speech (0 s to 2 s) by only 0.04 s. The word
  // must be placed in the second speech (2.6 s to 3.2 s).
  const ranges: [number, number][] = [anywhere, [0, 60], [60, 98], [98, 160], [160, 170], anywhere]
  const texts = placeInRecording(whisper, window, hypothesis([at(0), 0, 2, 3, at(160)], ranges), 'en')
  expect(texts[2]!.text).toBe(' four.')
  expect(texts[2]!.from / sampleRate).toBeGreaterThan(2.4)
  expect(texts[2]!.to / sampleRate).toBeGreaterThan(3.1)
})

test('without attention the words of a segment share its speech by their lengths', () => {
  const window = windowOf([speech(1, 3), speech(3.5, 9)])
  const tokens = [at(0), 0, 1, at(100), at(125), 2, 3]
  const texts = placeInRecording(whisper, window, { ...hypothesis(tokens, []), attention: [] }, 'en')
  expect(texts.map(({ text, from, to }) => [text, from / sampleRate, to / sampleRate])).toEqual([
    [' one', 1, 1 + 8 / 9],
    [' two.', 1 + 8 / 9, 3],
    [' three', 3.5, 6.25],
    [' four.', 6.25, 9],
  ])
})

test('without attention, words that meet at a pause end before it and begin after it', () => {
  const logProbabilities = [-0.1, -2]
  const segment = { ids: [0, 0], logProbabilities, attention: [], from: 0, to: 230 }
  const words = estimatedTimes(tokenizer, 'en', [segment], [span(0, 100), span(130, 230)])
  expect(words.map(({ from, to }) => [from, to])).toEqual([
    [0, 100],
    [130, 230],
  ])
  expect(words.map(({ probability }) => Math.log(probability))).toEqual(
    logProbabilities.map(each => expect.closeTo(each, 6)),
  )
})

test('without attention, the words of a segment without speech have the times of the segment', () => {
  const segment = { ids: [0], logProbabilities: [-0.1], attention: [], from: 110, to: 120 }
  expect(estimatedTimes(tokenizer, 'en', [segment], [span(0, 100), span(130, 230)])).toMatchObject([
    { from: 110, to: 120 },
  ])
})

test('a hypothesis that is judged as silence has no text', () => {
  const window = windowOf([speech(0, 1)])
  const texts = placeInRecording(
    whisper,
    window,
    { ...hypothesis([0], [anywhere]), verdict: 'silence' },
    'en',
  )
  expect(texts).toEqual([])
})

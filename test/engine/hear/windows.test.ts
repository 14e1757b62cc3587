import { expect, test } from 'bun:test'
import { findBlocks } from '../../../src/engine/hear/find-windows.ts'
import { Packer } from '../../../src/engine/hear/packer.ts'
import { Recording } from '../../../src/engine/hear/recording.ts'
import { SpeechSpans } from '../../../src/engine/hear/speech-spans.ts'
import { chunkSamples, type Vad } from '../../../src/engine/hear/vad.ts'
import { frameSamples } from '../../../src/engine/hear/vad-sizes.ts'
import { sampleOf, soundOf, windowOf, withSpeechAfter } from '../../../src/engine/hear/windows.ts'
import { seeded } from '../../support/random.ts'

const second = 16_000
const span = (from: number, to: number) => spanOf(from * second, to * second)
/** Returns a speech span without padding. `from` and `to` are in samples. */
const spanOf = (from: number, to: number) => ({ from, to, voice: { from, to } })
const inSeconds = (each: { from: number; to: number }) => [each.from / second, each.to / second]

test('a window ends at the longest pause in its last third', () => {
  const packer = new Packer()
  const spans = [span(0, 10), span(10.5, 21), span(21.9, 24), span(24.2, 27), span(27.3, 35), span(35.5, 40)]
  const windows = [...spans.flatMap(each => packer.add(each)), ...packer.end()]
  expect(windows.map(each => each.speech.map(inSeconds))).toEqual([
    [
      [0, 10],
      [10.5, 21],
    ],
    [
      [21.9, 24],
      [24.2, 27],
      [27.3, 35],
      [35.5, 40],
    ],
  ])
})

const windowsOf = (...spans: ReturnType<typeof span>[]) => {
  const packer = new Packer()
  return [...spans.flatMap(each => packer.add(each)), ...packer.end()].map(each => each.speech.map(inSeconds))
}

test.each([
  [
    'exactly 30 s fit',
    [
      [0, 15],
      [15.5, 30],
      [30.5, 40],
    ],
    [
      [
        [0, 15],
        [15.5, 30],
      ],
      [[30.5, 40]],
    ],
  ],
  [
    'speech that is left after a cut, and does not fit with the next span',
    [
      [0, 20],
      [21, 29.9],
      [30, 59],
    ],
    [[[0, 20]], [[21, 29.9]], [[30, 59]]],
  ],
  [
    'spans that overlap',
    [
      [0, 10],
      [9.5, 12],
      [10, 11.5],
    ],
    [
      [
        [0, 10],
        [10, 12],
      ],
    ],
  ],
] as const)('the windows of spans: %s', (_, spans, windows) => {
  expect(windowsOf(...spans.map(([from, to]) => span(from, to)))).toEqual(windows as never)
})

test('a pause of ten seconds ends a window', () => {
  const packer = new Packer()
  const spans = [span(0, 2), span(11.9, 13), span(23, 24)]
  const windows = [...spans.flatMap(each => packer.add(each)), ...packer.end()]
  expect(windows.map(each => each.speech.map(inSeconds))).toEqual([
    [
      [0, 2],
      [11.9, 13],
    ],
    [[23, 24]],
  ])
})

test('a pause of ten seconds ends a window before the next speech is known', () => {
  const packer = new Packer()
  packer.add(span(0, 2))
  expect(packer.settle(11.9 * second)).toEqual([])
  expect(packer.settle(12 * second).map(inSeconds)).toEqual([[0, 2]])
  expect(packer.settle(30 * second)).toEqual([])
})

test('a recording with rare speech is heard while it is read, and its sound is not kept', async () => {
  const chunks = 30
  let read = 0
  const chunk = new Float32Array(chunkSamples).fill(1)
  const sound = async function* () {
    for (; read < chunks; read++) yield chunk
  }
  // Voice detection finds one word in the first chunk and one in the last chunk. A chunk has 64 seconds.
  const vad: Vad = {
    start: () => samples => {
      const hasWord = read === 0 || read === chunks - 1
      return new Float32Array(samples.length / frameSamples).fill(0.9, 100, hasWord ? 120 : 100)
    },
    close() {},
  }
  const recording = new Recording()
  const options = { rows: 8, isOneOfChannels: true }
  const heard: { read: number; samples: number[] }[] = []
  for await (const [window, ...others] of findBlocks(vad, sound(), recording, options)) {
    expect(others).toEqual([])
    heard.push({ read, samples: [...new Set(soundOf(window!, recording))] })
  }
  expect(heard).toEqual([
    { read: 28, samples: [1] },
    { read: 30, samples: [1] },
  ])
  const first = new Float32Array(chunkSamples)
  recording.copy(0, chunkSamples, first, 0)
  expect(first.includes(1)).toBe(false)
})

test('the sound of a window that continues in the next chunks is kept until the window is complete', async () => {
  const sound = async function* () {
    for (const value of [1, 2]) yield new Float32Array(chunkSamples).fill(value)
  }
  let chunk = 0
  // A chunk has 64 s. The first chunk ends with 2 s of speech and 1 s of silence. The second chunk has a word at every
  // 9 s. A pause of less than 10 s does not end a window. So one window contains the speech of both chunks.
  const vad: Vad = {
    start: () => samples => {
      const probabilities = new Float32Array(samples.length / frameSamples)
      if (chunk++ === 0) return probabilities.fill(0.9, -93, -31)
      return probabilities.map((_, frame) => (frame % 280 < 10 ? 0.9 : 0))
    },
    close() {},
  }
  const recording = new Recording()
  const sounds = []
  for await (const block of findBlocks(vad, sound(), recording, { rows: 8, isOneOfChannels: true }))
    sounds.push(...block.map(window => soundOf(window, recording)))
  expect(sounds.length).toBe(1)
  expect([sounds[0]![0], sounds[0]!.at(-1), sounds[0]!.includes(0)]).toEqual([1, 2, false])
})

test('no window is longer than 30 s and no speech is lost, for random spans', () => {
  const random = seeded(7)
  const packer = new Packer()
  let at = 0
  const spans = Array.from({ length: 400 }, () => {
    const from = at + random.below(2.5 * second)
    at = from + 1600 + random.below(29 * second)
    return spanOf(from, at)
  })
  const windows = [...spans.flatMap(each => packer.add(each)), ...packer.end()]
  expect(Math.max(...windows.map(each => each.samples))).toBeLessThanOrEqual(30 * second)
  expect(windows.flatMap(each => each.speech)).toEqual(spans)
})

test('a long pause is shortened, and times map back to the recording', () => {
  const window = windowOf([span(5, 8), span(8.4, 10), span(70, 75)])
  expect(window.samples / second).toBeCloseTo(5 + 1 + 5, 5)
  expect(sampleOf(window, 0) / second).toBe(5)
  expect(sampleOf(window, 250) / second).toBe(10)
  expect(sampleOf(window, 6 * 50) / second).toBeCloseTo(70, 5)
  expect(sampleOf(window, 8.5 * 50) / second).toBeCloseTo(72.5, 5)
  expect(sampleOf(window, 20 * 50) / second).toBe(75)

  const recording = new Recording()
  const sound = Float32Array.from({ length: 80 * second }, (_, n) => n)
  for (let at = 0; at < sound.length; at += 12_345) recording.add(sound.subarray(at, at + 12_345))
  recording.forget(5 * second)
  const taken = soundOf(window, recording)
  expect(taken[0]).toBe(5 * second)
  expect(taken[Math.round(6 * second)]).toBe(70 * second)
  expect(taken.at(-1)).toBe(75 * second - 1)
})

test('speech that follows a window is added to it, as long as 30 s are not exceeded', () => {
  const spans = [span(0, 4), span(5, 12), span(13, 25), span(26, 31)]
  const extended = withSpeechAfter(windowOf(spans.slice(1, 2)), spans)
  expect(extended.speech.map(inSeconds)).toEqual([
    [5, 12],
    [13, 25],
    [26, 31],
  ])
  expect(withSpeechAfter(windowOf(spans.slice(0, 3)), spans).speech).toEqual(spans.slice(0, 3))
})

/**
 * Returns the speech spans, in frames, of a fake sound. Each character of `frames` is one frame of 32 ms: `s` is
 * speech, `-` is silence, and `~` is between the thresholds for the start and the end of speech.
 */
function spansIn(frames: string, samplesMax = 30 * second) {
  const speech = new SpeechSpans(samplesMax)
  const probabilities = Float32Array.from(frames, each => ({ s: 0.9, '-': 0.05, '~': 0.42 })[each] ?? 0)
  const spans = [...speech.push(probabilities), ...speech.end(frames.length * frameSamples)]
  return spans.map(each => [each.from / frameSamples, each.to / frameSamples].map(Math.round))
}

test.each([
  ['silence', '-'.repeat(100), []],
  ['a click', `${'-'.repeat(20)}ss${'-'.repeat(40)}`, []],
  ['one word', `${'-'.repeat(20)}${'s'.repeat(10)}${'-'.repeat(40)}`, [[12, 38]]],
  ['a word with a doubtful middle', `${'-'.repeat(20)}sssss~~~~~~~~~~~~sssss${'-'.repeat(40)}`, [[12, 50]]],
  [
    'two words',
    `${'s'.repeat(10)}${'-'.repeat(20)}${'s'.repeat(10)}${'-'.repeat(9)}`,
    [
      [0, 18],
      [22, 48],
    ],
  ],
  ['a click shortly before the end', `${'-'.repeat(20)}ss${'-'.repeat(5)}`, []],
  [
    'a word, and doubtful speech after it',
    `${'-'.repeat(20)}${'s'.repeat(10)}-${'~'.repeat(30)}${'-'.repeat(10)}`,
    [[12, 38]],
  ],
  ['speech to the very end', `${'-'.repeat(20)}${'s'.repeat(10)}`, [[12, 30]]],
])('spans of %s', (_, frames, spans) => {
  expect(spansIn(frames)).toEqual(spans)
})

test('speech without a pause is cut at its lowest speech probability', () => {
  const frames = `${'s'.repeat(80)}~${'s'.repeat(40)}`
  expect(spansIn(frames, 110 * frameSamples)[0]![1]).toBe(80 + 8)
})

test('speech of one probability is cut into spans that fit, and each later span begins after the settled sound', () => {
  const speech = new SpeechSpans(110 * frameSamples)
  const found = []
  for (let at = 0; at < 300; at += 10) {
    const { settled } = speech
    const spans = speech.push(new Float32Array(10).fill(0.9))
    for (const { from } of spans) expect(from).toBeGreaterThanOrEqual(settled)
    found.push(...spans)
  }
  found.push(...speech.end(300 * frameSamples))
  expect(Math.max(...found.map(({ from, to }) => to - from))).toBeLessThanOrEqual(110 * frameSamples)
  expect(found.map(({ voice }) => voice.from)).toEqual([
    0,
    ...found.slice(0, -1).map(({ voice }) => voice.to),
  ])
})

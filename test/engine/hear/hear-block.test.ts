import { expect, test } from 'bun:test'
import type { WhisperModels } from '../../../src/engine/hear/decode-windows.ts'
import type { Facts } from '../../../src/engine/hear/facts.ts'
import { hearBlock } from '../../../src/engine/hear/hear-block.ts'
import { hearRest } from '../../../src/engine/hear/hear-rest.ts'
import { JointDecoding } from '../../../src/engine/hear/joint-decoding.ts'
import { type Batch, type Decoder, EncodedWindow, type Encoder } from '../../../src/engine/hear/network.ts'
import { Recording } from '../../../src/engine/hear/recording.ts'
import type { Span } from '../../../src/engine/hear/speech-spans.ts'
import { windowOf } from '../../../src/engine/hear/windows.ts'
import { fakeBatch } from '../../support/fake-batch.ts'
import { tokenizerOf } from '../../support/tokenizer.ts'

const sampleRate = 16_000
/** Random words compress badly, so the check for repetition loops accepts them. */
const words = Array.from({ length: 900 }, (_, id) => ` ${Bun.hash(`${id}`).toString(36).slice(0, 8)}`)
const [end, start, firstTimestamp] = [900, 901, 1000]
const facts: Partial<Facts> = {
  vocabulary: 2501,
  positions: 448,
  start,
  end,
  transcribe: null,
  noSpeech: null,
  noTimestamps: 999,
  firstTimestamp,
  languages: new Map(),
  suppressed: [],
  suppressedAtStart: [],
  alignmentHeads: null,
}

/** A spoken sentence. `from` and `to` are seconds of the recording. */
type Sentence = { from: number; to: number; tokens: number[] }

class WindowFrom extends EncodedWindow {
  constructor(readonly second: number) {
    super([])
  }
}

/**
 * Returns fake models without a neural network. The value of each sample is its time in seconds, so the decoder knows
 * when a window begins and returns `tokensFrom(second)`. `decoded` has the begin times of the decoded windows, and
 * `encoded` the lengths of the encoded windows in frames. `batches` has the number of windows in each batch.
 */
function modelsThatSay(tokensFrom: (second: number) => number[]): {
  models: WhisperModels
  decoded: number[]
  encoded: number[]
  batches: number[]
} {
  const decoded: number[] = []
  const encoded: number[] = []
  const batches: number[] = []
  const decoder: Decoder = {
    begin(windows): Batch {
      const seconds = (windows as WindowFrom[]).map(({ second }) => second)
      decoded.push(...seconds)
      batches.push(seconds.length)
      const live = seconds.map(second => ({ tokens: tokensFrom(second), at: 0 }))
      return fakeBatch(live, ({ tokens, at }) => {
        const scores = new Float32Array(facts.vocabulary!).fill(-30)
        scores[tokens[at] ?? end] = 0
        return scores
      })
    },
  }
  const encoder: Encoder = {
    encode({ picture, soundFrames = 0 }) {
      encoded.push(soundFrames)
      return new WindowFrom(picture[0]!)
    },
  }
  const models = {
    whisper: { facts, tokenizer: tokenizerOf(words), encoder, decoder, attendingDecoder: null },
    features: { logMel: (sound: Float32Array) => sound.subarray(0, 1) },
    rows: 4,
    joint: new JointDecoding(4),
  }
  return { models: models as unknown as WhisperModels, decoded, encoded, batches }
}

const at = (second: number) => firstTimestamp + Math.round(second * 50)

/** Returns the tokens of all sentences from the time `second` on. Their timestamp tokens count from this time. */
function tokensOf(sentences: readonly Sentence[], second: number): number[] {
  return sentences
    .filter(({ from }) => from >= second - 0.01)
    .flatMap(({ from, to, tokens }) => [at(from - second), ...tokens, at(to - second)])
}

/** Returns a recording in which each sample has its time in seconds as its value. */
function recordingOf(seconds: number): Recording {
  const recording = new Recording()
  recording.add(Float32Array.from({ length: seconds * sampleRate }, (_, index) => index / sampleRate))
  return recording
}

/** Recognises a block of windows with one speech span each. `spans` has the start and end of each span in seconds. */
function hear(models: WhisperModels, spans: [number, number][], context: number[] = []) {
  const windows = spans.map(([from, to]) => {
    const voice = { from: from * sampleRate, to: to * sampleRate }
    return windowOf([{ ...voice, voice }])
  })
  const recording = recordingOf(Math.ceil(spans.at(-1)![1]))
  const warnings: [string, number, number][] = []
  const listener = {
    onSamples: async () => {},
    onWarning: (kind: string, { from, to }: Span) =>
      void warnings.push([kind, from / sampleRate, to / sampleRate]),
  }
  const options = { recording, language: 'en', context, translate: false, listener }
  return hearBlock(models, windows, options).then(({ texts }) => ({ texts, warnings }))
}

// Each case has a language, the number of tokens in two seconds, and the begin times of the decoded windows in seconds.
// Two seconds of speech have three to five words. Whisper needs many tokens per word in some languages: Hindi 4.4,
// Telugu 11.1, Bengali 11.6, Georgian 17.7. The text of a window is cut off at 224 tokens, so the next window begins
// after the last sentence that is complete, before the end of the 30 s.
test.each([
  ['Hindi', 20, [0, 20]],
  ['Bengali and Telugu', 45, [0, 8, 16, 24]],
  ['Georgian', 60, [0, 6, 12, 18, 24]],
])(
  'no token of 30 s of %s, with %d tokens in two seconds, is lost: windows are decoded from %j',
  async (_, tokens, windows) => {
    const sentences = Array.from({ length: 15 }, (_, index) => ({
      from: 2 * index,
      to: 2 * index + 2,
      tokens: Array.from({ length: tokens }, (_, at) => index * tokens + at),
    }))
    const { models, decoded } = modelsThatSay(second => tokensOf(sentences, second))
    const { texts, warnings } = await hear(models, [[0, 30]])
    const said = sentences.flatMap(({ tokens }) => tokens.map(id => words[id])).join('')
    expect(texts.map(({ text }) => text).join('')).toBe(said)
    expect(warnings).toEqual([])
    expect(decoded).toEqual(windows)
    for (const [index, { from, to }] of texts.entries()) {
      expect(Math.abs(from / sampleRate - (2 * index) / tokens)).toBeLessThan(0.03)
      expect(Math.abs(to / sampleRate - (2 * index + 2) / tokens)).toBeLessThan(0.03)
    }
  },
)

test('speech after the last sentence of a window is recognised again, together with that sentence', async () => {
  const { models, decoded } = modelsThatSay(second =>
    second === 0 ? [at(0), 1, 2, at(8), at(8), 3, 4, at(18), at(18)] : [at(0), 3, 5, 6, at(11)],
  )
  const { texts } = await hear(models, [[0, 19]])
  expect(decoded).toEqual([0, 8])
  expect(texts.map(({ text }) => text)).toEqual([1, 2, 3, 5, 6].map(id => words[id]!))
})

test('speech is recognised again with the speech after it, whose text comes from its own window', async () => {
  const { models, decoded, encoded } = modelsThatSay(
    second =>
      ({
        0: [at(0), 1, 2, at(8), at(8), 3, 4, at(18), at(18)],
        8: [at(0), 3, 5, 6, at(11), at(13), 7, 8, at(22)],
        21: [at(0), 7, 9, at(9)],
      })[second] ?? [],
  )
  const { texts } = await hear(models, [
    [0, 19],
    [21, 30],
  ])
  expect(decoded).toEqual([0, 21, 8])
  expect(encoded).toEqual([950, 450, 1100])
  expect(texts.map(({ text }) => text)).toEqual([1, 2, 3, 5, 6, 7, 9].map(id => words[id]!))
})

test.each([
  ['finds nothing', [at(0)]],
  ['repeats itself', [at(0), ...Array(20).fill(5)]],
])('a sentence keeps its text when the second recognition %s, and is doubtful', async (_, again) => {
  const { models } = modelsThatSay(second =>
    second === 0 ? [at(0), 1, 2, at(8), at(8), 3, 4, at(18), at(18)] : again,
  )
  const { texts, warnings } = await hear(models, [[0, 19]])
  expect(texts.map(({ text }) => text)).toEqual([1, 2, 3, 4].map(id => words[id]!))
  expect(warnings).toEqual([['text doubtful', 8, 19]])
})

test('the text of a window that fails all checks is doubtful, and a window that has no text is not', async () => {
  const { models } = modelsThatSay(second =>
    second === 0 ? [at(0), 1, 2, at(9), at(9), ...Array(20).fill(3)] : [at(0)],
  )
  const { texts, warnings } = await hear(models, [
    [0, 19],
    [30, 40],
  ])
  expect(texts.map(({ text }) => text)).toEqual([1, 2, 3].map(id => words[id]!))
  expect(warnings).toEqual([
    ['text doubtful', 0, 19],
    ['speech without text', 30, 40],
  ])
})

test('short speech whose second recognition has no text is not recognised a third time, and gives a warning', async () => {
  const { models, decoded } = modelsThatSay(second =>
    second === 0 ? [at(0), 1, 2, at(17.6), at(17.6)] : [at(0)],
  )
  const { warnings } = await hear(models, [[0, 19]])
  expect(decoded).toEqual([0, 17.6].map(second => expect.closeTo(second, 3)))
  expect(warnings).toEqual([['speech without text', 17.6, 19]])
})

test('a window that was judged as silence is not recognised again, and gives no warning', async () => {
  const voice = { from: 0, to: 5 * sampleRate }
  const decoded = {
    window: windowOf([{ ...voice, voice }]),
    verdict: 'silence',
    texts: [],
    rest: null,
  } as const
  // `hearRest` gets no models here, so it would throw if it recognised the window again.
  const options = { listener: {} } as unknown as Parameters<typeof hearRest>[2]
  expect(await hearRest({} as WhisperModels, [{ ...decoded, texts: [] }], options)).toEqual([])
})

test('windows that are recognised again are decoded in batches of at most `rows` windows, fewer with a prompt', async () => {
  const spans = [0, 12, 24, 36, 48].map((from): [number, number] => [from, from + 2])
  const { models, batches } = modelsThatSay(() => [at(0)])
  await hear(models, spans)
  expect(Math.max(...batches.slice(1))).toBe(models.rows)
  const withPrompt = modelsThatSay(() => [at(0)])
  await hear(withPrompt.models, spans, Array(400).fill(1))
  expect(Math.max(...withPrompt.batches.slice(1))).toBe(2)
})

test('a text with more tokens than its sound can have is cut off, and is doubtful', async () => {
  const long = Array.from({ length: 80 }, (_, id) => id)
  const cut = modelsThatSay(() => [at(0), ...long])
  const { texts, warnings } = await hear(cut.models, [[0, 0.2]])
  // A window may have 32 tokens, and 36 more for each second of speech. With 0.2 s of speech, this is 40 tokens
  // (rounded up). The first token is a timestamp token, and the last token is dropped, so 38 words remain.
  expect(texts.length).toBe(38)
  expect(warnings.map(([kind]) => kind)).toEqual(['text doubtful'])
  // Usually, a window is divided at two adjacent timestamp tokens, and the speech after them is decoded again in a
  // second window. This text has two such tokens. But it has too many tokens for its sound, so no part of it is
  // reliable. The whole text is doubtful, and there is no second window.
  const { models, decoded } = modelsThatSay(() => [at(0), ...long.slice(0, 20), at(0.6), at(0.6), ...long])
  await hear(models, [[0, 1]])
  expect(new Set(decoded)).toEqual(new Set([0]))
})

import { expect, test } from 'bun:test'
import type { Attempt, RecogniseOptions, Row } from '../../../src/engine/hear/decode-rows.ts'
import { decodeWindows, type WhisperModels, withEncoded } from '../../../src/engine/hear/decode-windows.ts'
import { emptyHypothesis, type Unfinished } from '../../../src/engine/hear/hypothesis.ts'
import { EncodedWindow, type Encoder, type EncoderInput } from '../../../src/engine/hear/network.ts'
import { Recording } from '../../../src/engine/hear/recording.ts'
import { type Window, windowOf } from '../../../src/engine/hear/windows.ts'
import { tokenizerOf } from '../../support/tokenizer.ts'

const sampleRate = 16_000

/**
 * Returns a window with one or more speech spans. Each span is given by its start and its end, in seconds of the
 * recording.
 */
function windowFrom(from: number, to: number, ...more: [from: number, to: number][]): Window {
  const spans = [[from, to] as const, ...more].map(([from, to]) => ({
    from: from * sampleRate,
    to: to * sampleRate,
  }))
  return windowOf(spans.map(span => ({ ...span, voice: span })))
}

class NamedWindow extends EncodedWindow {
  isOpen = true

  constructor(readonly second: number) {
    super([])
  }

  override close(): void {
    this.isOpen = false
  }
}

/**
 * Returns a fake encoder and the windows of each run. The first input value of a window is its time in seconds, which
 * serves as its name. The encoder throws for the window with the time `failsAt`.
 */
function fakeEncoder({ failsAt = -1 } = {}) {
  const runs: NamedWindow[][] = []
  const encoded = (windows: readonly EncoderInput[]) => {
    const run = windows.map(({ picture, onVoiceReading }) => {
      const [second = -1] = picture
      if (second === failsAt) throw new Error(`no memory for the window at ${second}`)
      onVoiceReading?.({ counts: Float32Array.of(second), embeddings: new Float32Array(0), width: 0 })
      return new NamedWindow(second)
    })
    runs.push(run)
    return run as [NamedWindow, NamedWindow]
  }
  const encoder = {
    encode: window => encoded([window])[0],
    encodeTwo: (one, other) => encoded([one, other]),
  } satisfies Encoder
  return { encoder, runs }
}

/** Encodes windows of a recording in which each sample has its time in seconds as its value. */
async function encode(encoder: Encoder, windows: readonly Window[]) {
  const recording = new Recording()
  recording.add(Float32Array.from({ length: 12 * sampleRate }, (_, at) => at / sampleRate))
  const shares: number[] = []
  const counts: [from: number, voices: number][] = []
  const features = { logMel: (sound: Float32Array) => sound.slice(0, 1) }
  const used = await withEncoded({ whisper: { encoder }, features } as WhisperModels, windows, {
    recording,
    onShare: async share => void shares.push(share),
    onVoiceReading: ({ from }, { counts: [count = -1] }) => counts.push([from / sampleRate, count]),
    use: async encoded => {
      await Promise.resolve()
      return (encoded as readonly NamedWindow[]).map(({ second, isOpen }) => [second, isOpen])
    },
  })
  return { used, shares, counts }
}

const four = [windowFrom(0, 2), windowFrom(3, 5), windowFrom(6, 8), windowFrom(9, 11)]

test('of three windows, two are encoded at the same time; all are open while they are used', async () => {
  const { encoder, runs } = fakeEncoder()
  const { used, shares, counts } = await encode(encoder, four.slice(0, 3))
  expect(runs.map(run => run.map(({ second }) => second))).toEqual([[0, 3], [6]])
  expect(used).toEqual([0, 3, 6].map(second => [second, true]))
  expect(shares).toEqual([2 / 3, 1])
  expect(counts).toEqual([0, 3, 6].map(second => [second, second]))
  expect(runs.flat().map(({ isOpen }) => isOpen)).toEqual([false, false, false])
})

test('an encoder that cannot encode two windows at the same time encodes one by one', async () => {
  const { encoder, runs } = fakeEncoder()
  const { used, shares } = await encode({ encode: encoder.encode, encodeTwo: null }, four.slice(0, 3))
  expect(runs.map(run => run.map(({ second }) => second))).toEqual([[0], [3], [6]])
  expect(used.map(([second]) => second)).toEqual([0, 3, 6])
  expect(shares).toEqual([1 / 3, 2 / 3, 1])
})

test('if the second pair of windows fails, the first pair is closed and the error is thrown', async () => {
  const { encoder, runs } = fakeEncoder({ failsAt: 9 })
  const encoded = encode(encoder, four)
  await expect(encoded).rejects.toThrow('no memory for the window at 9')
  expect(runs.flat().map(({ second, isOpen }) => [second, isOpen])).toEqual([
    [0, false],
    [3, false],
  ])
})

/**
 * Returns the rows that `decodeWindows` passes to a fake decoder: one row for each window, with the lengths of its
 * sound and of its speech. `extended` has the same windows as `windows`, but some have more speech at their end,
 * because the model makes more errors in short windows. The decoder reads `extended`, and the text that is not in
 * `windows` is removed.
 */
async function rowsOf(windows: readonly Window[], extended: readonly Window[]): Promise<Row[]> {
  const rows: Row[] = []
  const silence = { ...emptyHypothesis(0, 1, 0), logProbability: -9 }
  const joint = {
    decode: async (tasks: readonly { row: Row }[]) => {
      rows.push(...tasks.map(({ row }) => row))
      return tasks.map(task => ({ task, hypothesis: silence, looped: false })) as Attempt[]
    },
  }
  const whisper = { facts: { languages: new Map() }, tokenizer: { decode: () => '' }, attendingDecoder: null }
  await decodeWindows(
    { whisper, joint } as unknown as WhisperModels,
    windows,
    extended,
    extended.map(() => new NamedWindow(0)),
    {
      language: 'en',
      context: [],
      translate: false,
      onShare: async () => {},
    },
  )
  return rows
}

test('the row of a window has the length of its sound and of its speech', async () => {
  const windows = [windowFrom(0, 2), windowFrom(3, 5, [6.5, 8])]
  expect(await rowsOf(windows, windows)).toEqual([
    { frames: 100, speechSeconds: 2 },
    { frames: 250, speechSeconds: 3.5 },
  ])
})

test('the row of an extended window has its whole sound and speech, and the length of the needed part', async () => {
  const windows = [windowFrom(0, 1), windowFrom(3, 5)]
  const extended = [windowFrom(0, 1, [4, 6], [7, 9]), windowFrom(3, 5)]
  expect(await rowsOf(windows, extended)).toEqual([
    { frames: 350, speechSeconds: 5, neededFrames: 50 },
    { frames: 100, speechSeconds: 2 },
  ])
})

const [end, firstTimestamp, frames] = [90, 100, 350]
const at = (second: number) => firstTimestamp + second * 50

const anywhere = [0, 7] as const

/** A decoded text. Token n attends to the sound at `times[n]`, in seconds. */
type Said = { tokens: number[]; times: (readonly [from: number, to: number])[]; unfinished: Unfinished }

/**
 * Decodes a window with speech from 0 to 2 s and from 2.5 to 7 s. A fake decoder returns the given text for this
 * window. `unfinished` is the place in the window after which the text is incomplete. So the speech after this place
 * must be decoded again. Returns the start of this speech in seconds (`from`), and the number of words before it
 * (`textsKept`).
 */
async function restOf({ tokens, times, unfinished }: Said, { translate = false } = {}) {
  const attention = [...times, anywhere].map(([from, to]) =>
    Float32Array.from({ length: frames }, (_, frame) => (frame >= from * 50 && frame < to * 50 ? 1 : 1e-5)),
  )
  const hypothesis = {
    ...emptyHypothesis(frames, 0, 0),
    tokens,
    logProbabilities: tokens.map(() => -0.1),
    attention: translate ? [] : attention,
    unfinished,
  }
  const joint = { decode: async ([task]: unknown[]) => [{ task, hypothesis, looped: false }] }
  const facts = { languages: new Map(), end, firstTimestamp }
  const whisper = { facts, tokenizer: tokenizerOf([' one', ' two', ' three', ' four']), attendingDecoder: {} }
  const window = windowFrom(0, 2, [2.5, 7])
  const models = { whisper, joint } as unknown as WhisperModels
  const options = { language: 'en', context: [], translate, onShare: async () => {} }
  const [decoded] = await decodeWindows(models, [window], [window], [new NamedWindow(0)], options)
  const { textsKept, window: rest } = decoded!.rest!
  return { textsKept, from: rest.from / sampleRate }
}

test('the rest of a window begins in the pause before its first sentence, not inside a word', async () => {
  // The timestamp tokens end a segment between ` two` and ` three`, where the speech has no pause.
  const one = [at(0), 0, 1, at(4.5)]
  const other = [at(4.5), 2, 3, at(6.5), at(6.5)]
  const said: Said = {
    tokens: [...one, ...other],
    times: [anywhere, [0, 2], [2.5, 4.5], anywhere, anywhere, [4.5, 5.5], [5.5, 6.5], anywhere, anywhere],
    unfinished: { tokens: one.length, frame: 4.5 * 50 },
  }
  expect(await restOf(said)).toEqual({ textsKept: 1, from: 2.5 })
  // The speech that is decoded again begins in a pause only if the word times are measured. The word times of a
  // translation are only estimates. So this speech does not begin in the pause before ` two`. It begins at the time of
  // the timestamp token between ` two` and ` three` (4.5 s).
  expect(await restOf(said, { translate: true })).toEqual({ textsKept: 2, from: 4.5 })
})

test('a word that is mostly in the added speech belongs to the next window', async () => {
  const [window, extended] = [windowFrom(0, 2), windowFrom(0, 2, [2, 4])]
  const attention = [anywhere, [0, 1.6], [1.6, 2.8], [2.8, 4], anywhere].map(([from = 0, to = 0]) =>
    Float32Array.from({ length: 200 }, (_, frame) => (frame >= from * 50 && frame < to * 50 ? 1 : 1e-5)),
  )
  const tokens = [at(0), 0, 1, 2]
  const hypothesis = {
    ...emptyHypothesis(200, 0, 0),
    ...{ tokens, attention, logProbabilities: tokens.map(() => -0.1) },
  }
  const joint = { decode: async ([task]: unknown[]) => [{ task, hypothesis, looped: false }] }
  const facts = { languages: new Map(), end, firstTimestamp }
  const whisper = { facts, tokenizer: tokenizerOf([' one', ' two', ' three']), attendingDecoder: {} }
  const models = { whisper, joint } as unknown as WhisperModels
  const options = { language: 'en', context: [], translate: false, onShare: async () => {} }
  const [decoded] = await decodeWindows(models, [window], [extended], [new NamedWindow(0)], options)
  expect(decoded!.texts.map(({ text }) => text)).toEqual([' one'])
})

/** Decodes a window of three seconds. Returns the options of the decoder and the language of the words. */
async function optionsFor(translate: boolean) {
  const found: unknown[] = []
  const hypothesis = { ...emptyHypothesis(150, 0, 0), tokens: [0], logProbabilities: [-0.1] }
  const joint = {
    decode: async ([task]: unknown[], _: number, { prompt, promptAgain, attention }: RecogniseOptions) => {
      found.push({ prompt, promptAgain, attention })
      return [{ task, hypothesis, looped: false }]
    },
  }
  const words = (_: unknown, language: string) => {
    found.push(language)
    return []
  }
  const whisper = {
    facts: { languages: new Map([['de', 5]]), start: 4, transcribe: 6, translate: 7, firstTimestamp },
    tokenizer: { decode: () => ' eins', words },
    attendingDecoder: {},
  }
  const windows = [windowFrom(0, 3)]
  const models = { whisper, joint } as unknown as WhisperModels
  const options = { language: 'de', context: [8, 9], translate, onShare: async () => {} }
  await decodeWindows(models, windows, windows, [new NamedWindow(0)], options)
  return found
}

test('a window that is decoded again has no context, and a translation has English words without attention', async () => {
  expect(await optionsFor(false)).toEqual([
    { prompt: [8, 9, 4, 5, 6], promptAgain: [4, 5, 6], attention: true },
    'de',
  ])
  expect(await optionsFor(true)).toEqual([
    { prompt: [8, 9, 4, 5, 7], promptAgain: [4, 5, 7], attention: false },
    'en',
  ])
})

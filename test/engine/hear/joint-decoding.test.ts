import { expect, test } from 'bun:test'
import type { RecogniseOptions, Task } from '../../../src/engine/hear/decode-rows.ts'
import type { Facts } from '../../../src/engine/hear/facts.ts'
import { emptyHypothesis } from '../../../src/engine/hear/hypothesis.ts'
import { JointDecoding } from '../../../src/engine/hear/joint-decoding.ts'
import { detectJointly } from '../../../src/engine/hear/language.ts'
import { type Decoder, EncodedWindow } from '../../../src/engine/hear/network.ts'
import type { Whisper } from '../../../src/engine/hear/whisper.ts'
import { fakeBatch } from '../../support/fake-batch.ts'

const [end, vocabulary] = [20, 30]
const facts: Partial<Facts> = {
  vocabulary,
  positions: 448,
  start: 22,
  end,
  noSpeech: null,
  firstTimestamp: 24,
  noTimestamps: 23,
  suppressed: [],
  suppressedAtStart: [],
}

class NumberedWindow extends EncodedWindow {
  constructor(readonly number: number) {
    super([])
  }
}

/**
 * Returns a fake decoder. For window n, it predicts the token n and then the end of the text. `batches` lists the
 * windows of each batch.
 */
function numbering() {
  const batches: number[][] = []
  const decoder: Decoder = {
    begin(windows) {
      const live = (windows as NumberedWindow[]).map(({ number }) => ({ number, at: 0 }))
      batches.push(live.map(({ number }) => number))
      return fakeBatch(live, ({ number, at }) => {
        const scores = new Float32Array(vocabulary)
        scores[at === 0 ? number : end] = 9
        return scores
      })
    },
  }
  return { decoder, batches }
}

const { decoder: plain } = numbering()

function options(decoder: Decoder, change: Partial<RecogniseOptions> = {}): RecogniseOptions {
  const whisper = { facts } as unknown as Whisper
  const prompts = { prompt: [22], promptAgain: [22] }
  return {
    whisper,
    decoder,
    ...prompts,
    timestamps: false,
    attention: false,
    onShare: async () => {},
    ...change,
  }
}

function tasks(...windows: { number: number; frames?: number }[]): Task[] {
  return windows.map(({ number, frames = 100 }) => ({
    row: { frames, speechSeconds: 1 },
    window: new NumberedWindow(number),
    best: emptyHypothesis(frames, 0, 0),
    random: () => 0.5,
  }))
}

const tokensOf = (attempts: { hypothesis: { tokens: number[] } }[]) =>
  attempts.map(({ hypothesis }) => hypothesis.tokens)

test('the windows of several recordings are decoded in one batch, and each recording gets its own texts', async () => {
  const joint = new JointDecoding(8)
  const { decoder, batches } = numbering()
  for (const _ of [1, 2]) joint.enter()
  const [one, other] = await Promise.all([
    joint.decode(tasks({ number: 1 }, { number: 2 }), 0, options(decoder)),
    joint.decode(tasks({ number: 3 }), 0, options(decoder)),
  ])
  expect(batches).toEqual([[1, 2, 3]])
  expect([tokensOf(one), tokensOf(other)]).toEqual([[[1], [2]], [[3]]])
})

test('a window waits for the other recordings until they end', async () => {
  const joint = new JointDecoding(8)
  const { decoder, batches } = numbering()
  joint.enter()
  const leave = joint.enter()
  const decoded = joint.decode(tasks({ number: 1 }), 0, options(decoder))
  await Promise.resolve()
  expect(batches).toEqual([])
  leave()
  expect(tokensOf(await decoded)).toEqual([[1]])
})

test('windows with another prompt or temperature are decoded in a batch of their own', async () => {
  const joint = new JointDecoding(8)
  const { decoder, batches } = numbering()
  for (const _ of [1, 2, 3]) joint.enter()
  await Promise.all([
    joint.decode(tasks({ number: 1 }), 0, options(decoder)),
    joint.decode(tasks({ number: 2 }), 0, options(decoder, { prompt: [22, 5] })),
    joint.decode(tasks({ number: 3 }), 0.2, options(decoder)),
  ])
  expect(batches).toEqual([[1], [2], [3]])
})

test('a batch has windows of similar length, and needs no more memory than three full windows', async () => {
  const joint = new JointDecoding(2)
  const { decoder, batches } = numbering()
  const lengths = [1500, 500, 1400, 900, 500, 900, 300]
  for (const _ of lengths) joint.enter()
  const all = lengths.map((frames, number) => joint.decode(tasks({ number, frames }), 0, options(decoder)))
  expect((await Promise.all(all)).map(tokensOf)).toEqual(lengths.map((_, number) => [[number]]))
  expect(batches).toEqual([
    [6, 1, 4, 3, 5],
    [2, 0],
  ])
})

test('if each row needs the memory of a full window, a batch has no more short windows than full ones', async () => {
  const joint = new JointDecoding(2, { hasFullRows: true })
  const { decoder, batches } = numbering()
  const numbers = [0, 1, 2, 3, 4]
  for (const _ of numbers) joint.enter()
  await Promise.all(numbers.map(number => joint.decode(tasks({ number, frames: 50 }), 0, options(decoder))))
  expect(batches).toEqual([[0, 1], [2, 3], [4]])
})

test('languages are detected in one batch, while recordings with a known language wait', async () => {
  const joint = new JointDecoding(8)
  const { decoder, batches } = numbering()
  const languages = new Map([
    ['en', 1],
    ['de', 2],
  ])
  const whisper = { facts: { ...facts, languages }, decoder } as unknown as Whisper
  for (const _ of [1, 2, 3]) joint.enter()
  const known = joint.decode(tasks({ number: 3 }), 0, options(decoder))
  const likeliest = [1, 2].map(async number => {
    const [odds] = await joint.detect(whisper, [new NumberedWindow(number)])
    await joint.decode(tasks({ number }), 0, options(decoder))
    return [...odds!].reduce((best, each) => (each[1] > best[1] ? each : best))[0]
  })
  expect(await Promise.all(likeliest)).toEqual(['en', 'de'])
  expect(tokensOf(await known)).toEqual([[3]])
  expect(batches).toEqual([
    [1, 2],
    [3, 1, 2],
  ])
})

test('an error of the decoder fails all recordings of the batch, and no later one', async () => {
  const joint = new JointDecoding(8)
  const broken: Decoder = {
    begin() {
      throw new Error('no memory')
    },
  }
  const leaves = [joint.enter(), joint.enter()]
  const both = [1, 2].map(number => joint.decode(tasks({ number }), 0, options(broken)))
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  for (const leave of leaves) leave()
  expect(tokensOf(await joint.decode(tasks({ number: 3 }), 0, options(plain)))).toEqual([[3]])
})

test('work that fails does not stop the work after it', async () => {
  const joint = new JointDecoding(8)
  const failed = joint.alone(() => Promise.reject(new Error('no memory')))
  await expect(failed).rejects.toThrow('no memory')
  expect(await joint.alone(() => 'done')).toBe('done')
})

test('a long prompt makes the batches smaller', async () => {
  const joint = new JointDecoding(8)
  const { decoder, batches } = numbering()
  const prompt = [22, ...Array(399).fill(5)]
  for (const _ of [1, 2, 3]) joint.enter()
  await Promise.all([1, 2, 3].map(number => joint.decode(tasks({ number }), 0, options(decoder, { prompt }))))
  expect(batches).toEqual([[1, 2], [3]])
})

test('each recording of a batch gets its progress', async () => {
  const joint = new JointDecoding(8)
  const { decoder } = numbering()
  const heard: number[] = []
  for (const _ of [1, 2]) joint.enter()
  const onShare = (number: number) => async (share: number) => void (share === 0 && heard.push(number))
  await Promise.all(
    [1, 2].map(number => joint.decode(tasks({ number }), 0, options(decoder, { onShare: onShare(number) }))),
  )
  expect(new Set(heard)).toEqual(new Set([1, 2]))
})

test('languages are detected in batches of at most the maximum, and an error fails all recordings of a batch', async () => {
  const languages = new Map([['en', 1]])
  const detected = async (decoder: Decoder) => {
    const joint = new JointDecoding(2)
    const whisper = { facts: { ...facts, languages }, decoder } as unknown as Whisper
    const numbers = [1, 2, 3, 4, 5]
    for (const _ of numbers) joint.enter()
    const all = numbers.map(number => joint.detect(whisper, [new NumberedWindow(number)]))
    return (await Promise.allSettled(all)).map(({ status }) => status)
  }
  const { decoder, batches } = numbering()
  expect(await detected(decoder)).toEqual(Array(5).fill('fulfilled'))
  expect(batches).toEqual([[1, 2], [3, 4], [5]])
  const broken: Decoder = {
    begin() {
      throw new Error('no memory')
    },
  }
  expect(await detected(broken)).toEqual(Array(5).fill('rejected'))
})

test('eight windows vote on the language, and a model without languages is English', async () => {
  const windows = Array.from({ length: 10 }, (_, number) => new NumberedWindow(number))
  const voters: number[] = []
  const oddsOfAll = async (encoded: readonly EncodedWindow[]) => {
    voters.push(encoded.length)
    return [new Map([['de', 1]])]
  }
  const languageOf = (languages: Map<string, number>) =>
    detectJointly({ facts: { ...facts, languages } } as unknown as Whisper, windows, [], oddsOfAll)
  expect(await languageOf(new Map([['de', 1]]))).toBe('de')
  expect(await languageOf(new Map())).toBe('en')
  expect(voters).toEqual([8])
})

import { expect, test } from 'bun:test'
import type { Facts } from '../../../src/engine/hear/facts.ts'
import { guards } from '../../../src/engine/hear/guard.ts'
import { emptyHypothesis } from '../../../src/engine/hear/hypothesis.ts'
import { JointDecoding } from '../../../src/engine/hear/joint-decoding.ts'
import { type Batch, type Decoder, EncodedWindow } from '../../../src/engine/hear/network.ts'
import { recognise } from '../../../src/engine/hear/recognise.ts'
import { unfinishedAtEnd } from '../../../src/engine/hear/unfinished.ts'
import type { Whisper } from '../../../src/engine/hear/whisper.ts'
import { fakeBatch } from '../../support/fake-batch.ts'
import { tokenizerOf } from '../../support/tokenizer.ts'

const words = Array.from({ length: 20 }, (_, id) => ` ${String.fromCharCode(97 + id).repeat(3)}`)
const [end, noSpeech, firstTimestamp, vocabulary] = [20, 21, 24, 1600]
const tokenizer = tokenizerOf(words)
const facts: Partial<Facts> = {
  vocabulary,
  positions: 448,
  start: 22,
  end,
  noSpeech,
  noTimestamps: 23,
  firstTimestamp,
  suppressed: [],
  suppressedAtStart: [],
}
const whisper = { facts, tokenizer } as unknown as Whisper

/**
 * The fake result for one window. `attempts[n]` has the tokens of attempt n, and later attempts repeat the last
 * element. A negative number -N is the token N with a low probability. If `noSpeech` is above 0.5, the window probably
 * has no speech.
 */
type Script = { attempts: number[][]; noSpeech?: number }

class ScriptedWindow extends EncodedWindow {
  constructor(readonly script: number) {
    super([])
  }
}

type ScriptedDecoder = Decoder & { begun: number[][]; prompts: (readonly number[])[] }

/**
 * Returns a fake decoder. For each window, it returns the tokens of `scripts[window.script]`. It also records each
 * batch for the tests. `begun` gets one list for each batch, with the number `script` of each window in the batch.
 * `prompts` gets the prompt of each batch.
 */
function scripted(scripts: readonly Script[]): ScriptedDecoder {
  const attempts = scripts.map(() => 0)
  const begun: number[][] = []
  const prompts: (readonly number[])[] = []
  return {
    begun,
    prompts,
    begin(windows, prompt): Batch {
      prompts.push(prompt)
      const live = (windows as ScriptedWindow[]).map(({ script }) => ({ script, at: 0, attempt: 0 }))
      for (const row of live) row.attempt = attempts[row.script]!++
      begun.push(live.map(({ script }) => script))
      return fakeBatch(live, ({ script, at, attempt }, position) => {
        const { attempts, noSpeech: silent = 0 } = scripts[script]!
        const scores = new Float32Array(vocabulary)
        // `position` is given only for the start token of the prompt, whose scores contain the probability of no
        // speech. Without a `position`, the scores are those of the next token.
        if (position !== undefined) scores[noSpeech] = silent > 0.5 ? 12 : -12
        else {
          const token = (attempts[attempt] ?? attempts.at(-1)!)[at] ?? end
          scores[Math.abs(token)] = token < 0 ? 0.1 : 12
        }
        return scores
      })
    },
  }
}

function recogniseAll(
  scripts: readonly Script[],
  decoder = scripted(scripts),
  timed = false,
  needed: { neededFrames?: number } = {},
  model = whisper,
) {
  return recognise(
    scripts.map((_, script) => new ScriptedWindow(script)),
    scripts.map(() => ({ frames: timed ? 1500 : 500, speechSeconds: 5, ...needed })),
    {
      whisper: model,
      decoder,
      prompt: [7, 22],
      promptAgain: [22],
      timestamps: timed,
      attention: false,
      joint: new JointDecoding(8),
      onShare: async () => {},
    },
  )
}

const sure = [1, 2, 3, 4]
const unsure = [-1, -2, -3, -4, -5]
const loop = Array.from({ length: 60 }, (_, at) => 5 + (at % 3))

test('rows that end at different steps keep their own tokens', async () => {
  const tokens = [[1], [2, 3, 4, 5, 6, 7], [8, 9], [10, 11, 12]]
  const hypotheses = await recogniseAll(tokens.map(own => ({ attempts: [own] })))
  expect(hypotheses.map(({ tokens }) => tokens)).toEqual(tokens)
  expect(hypotheses.every(({ verdict, temperature }) => verdict === 'good' && temperature === 0)).toBe(true)
  // The log probability of a text is the mean of the log probabilities of its tokens and of the end token. The first
  // text has one token, and its end token is equally probable. So the mean equals the log probability of the one token.
  expect(hypotheses[0]!.logProbability).toBeCloseTo(hypotheses[0]!.logProbabilities[0]!, 6)
})

test('a batch whose first scores cannot be read is closed, so that the decoder can begin another one', async () => {
  const scripts = [{ attempts: [sure] }]
  const decoder = scripted(scripts)
  let closed = 0
  const failing: ScriptedDecoder = {
    ...decoder,
    begin: (...args) => ({
      ...decoder.begin(...args),
      logits() {
        throw new Error('no memory')
      },
      close: () => void closed++,
    }),
  }
  await expect(recogniseAll(scripts, failing)).rejects.toThrow('no memory')
  expect(closed).toBe(1)
})

test('only rows that failed are decoded again, at the next temperature', async () => {
  const scripts = [
    { attempts: [sure] },
    { attempts: [loop, sure] },
    { attempts: [sure] },
    { attempts: [unsure, sure] },
  ]
  const decoder = scripted(scripts)
  const hypotheses = await recogniseAll(scripts, decoder)
  expect(decoder.begun).toEqual([
    [0, 1, 2, 3],
    [1, 3],
  ])
  expect(hypotheses.map(({ temperature }) => temperature)).toEqual([0, 0.2, 0, 0.2])
  expect(hypotheses.every(({ verdict }) => verdict === 'good')).toBe(true)
})

test('a row that loops at every temperature keeps its first result and is doubtful', async () => {
  const scripts = [{ attempts: [loop] }, { attempts: [sure] }]
  const decoder = scripted(scripts)
  const [looped, good] = await recogniseAll(scripts, decoder)
  expect(decoder.begun.length).toBe(guards.temperatures.length)
  expect(looped).toMatchObject({ tokens: [5, 6, 7], verdict: 'doubtful' })
  expect(good!.tokens).toEqual(sure)
})

/**
 * A failed attempt to decode a window: its text does not pass the checks. `logProbability` is the mean log probability
 * of its tokens. `looped` is true if the decoding was stopped because the tokens repeated (a loop).
 */
type Failed = { tokens: number[]; logProbability: number; looped?: boolean }

/** Recognises a window. A fake decoder returns the elements of `attempts` one by one, and then repeats the last one. */
async function bestOf(attempts: Failed[]) {
  const left = [...attempts]
  const joint = {
    decode: async ([task]: unknown[], temperature: number) => {
      const { looped = false, ...given } = left.length > 1 ? left.shift()! : left[0]!
      return [{ task, hypothesis: { ...emptyHypothesis(500, 0, temperature), ...given }, looped }]
    },
  }
  const [best] = await recognise([new ScriptedWindow(0)], [{ frames: 500, speechSeconds: 5 }], {
    whisper,
    joint,
  } as unknown as Parameters<typeof recognise>[2])
  return best!
}

const improbable = { tokens: [1, 2, 3, 4], logProbability: -1.2 }
const lessProbable = { tokens: [2, 3, 4, 5], logProbability: -1.4 }
const meaningless = { tokens: [8, 9, 10, 11], logProbability: -4 }
const repeating = { tokens: loop, logProbability: -0.3 }
const cut = { tokens: [5, 6, 7], logProbability: -0.3, looped: true }

test.each([
  ['the more probable one', [lessProbable, improbable, lessProbable], improbable],
  ['the one that does not repeat', [improbable, repeating], improbable],
  ['the one that does not repeat, if it is a later one', [repeating, improbable], improbable],
  ['the one that was not cut because of a loop', [cut, improbable], improbable],
  ['the one that repeats, if the other one is far too improbable', [repeating, meaningless], repeating],
  ['the more probable one, if all repeat', [cut, { ...repeating, logProbability: -0.2 }, cut], repeating],
])('of the texts that fail the checks, a window keeps %s', async (_, attempts, { tokens }) => {
  expect(await bestOf(attempts)).toMatchObject({ tokens, verdict: 'doubtful' })
})

test('unlikely text where speech is improbable is silence, and is not decoded again', async () => {
  const scripts = [{ attempts: [unsure], noSpeech: 1 }]
  const decoder = scripted(scripts)
  const [hypothesis] = await recogniseAll(scripts, decoder)
  expect(hypothesis!.verdict).toBe('silence')
  expect(decoder.begun.length).toBe(1)
})

test('likely text is good even where speech is improbable', async () => {
  const [hypothesis] = await recogniseAll([{ attempts: [sure], noSpeech: 1 }])
  expect(hypothesis).toMatchObject({ verdict: 'good', tokens: sure })
})

test('seconds of speech without text are decoded again', async () => {
  const scripts = [{ attempts: [[], sure] }]
  const [hypothesis] = await recogniseAll(scripts)
  expect(hypothesis).toMatchObject({ tokens: sure, temperature: 0.2 })
})

const at = (seconds: number) => firstTimestamp + seconds * 50

test.each([
  ['one timestamp token ends a finished window', [at(0), 1, 2, at(8), at(8), 3, 4, at(12)], null],
  [
    'two timestamp tokens leave the rest, with the sentence before it, to be heard again',
    [at(0), 1, 2, at(18), at(18), 3, 4, at(29), at(29)],
    { tokens: 4, frame: 900 },
  ],
  [
    'the only sentence is not heard again with the rest',
    [at(0), 1, 2, at(29), at(29)],
    { tokens: 4, frame: 1450 },
  ],
  [
    'a long sentence is not heard again with the rest',
    [at(0), 1, 2, at(4), at(4), 3, 4, at(29), at(29)],
    { tokens: 8, frame: 1450 },
  ],
  [
    'an improbable text after two timestamp tokens is heard again',
    [at(0), 1, 2, at(8), at(8), 3, 4, -at(29)],
    { tokens: 4, frame: 400 },
  ],
])('%s', async (_, tokens, unfinished) => {
  const [hypothesis] = await recogniseAll([{ attempts: [tokens] }], undefined, true)
  expect(hypothesis).toMatchObject({ verdict: 'good', tokens: tokens.map(Math.abs), unfinished })
})

test('a doubtful text stays if the later attempts have only a timestamp token', async () => {
  const scripts = [{ attempts: [[at(0), ...loop], [at(0)]] }]
  const [hypothesis] = await recogniseAll(scripts, undefined, true)
  expect(hypothesis).toMatchObject({ tokens: [at(0), 5, 6, 7], verdict: 'doubtful' })
})

test('a window that failed is decoded again without the text of the caller', async () => {
  const scripts = [{ attempts: [unsure, unsure, sure] }]
  const decoder = scripted(scripts)
  await recogniseAll(scripts, decoder)
  expect(decoder.prompts).toEqual([[7, 22], [22], [22]])
})

test('the only timestamp token of a window is removed if it is after the needed part', async () => {
  const scripts = [{ attempts: [[at(0.6), 1, 2, at(8)]] }]
  const [hypothesis] = await recogniseAll(scripts, scripted(scripts), true, { neededFrames: 20 })
  expect(hypothesis).toMatchObject({ tokens: [], logProbabilities: [] })
})

test.each([
  ['the token ends a segment', 200, [at(0), 1, 2, at(2), at(2), 3, at(5)]],
  ['the token ends a segment at the end of the part', 100, [at(0), 1, 2, at(2)]],
  ['the token begins a segment, and is removed', 260, [at(0), 1, 2, at(2), at(2), 3, at(5)]],
])('text ends at the first timestamp token after the needed part: %s', async (_, neededFrames, expected) => {
  const text = [at(0), 1, 2, at(2), at(2), 3, at(5), at(5.6), 4, at(30)]
  const scripts = [{ attempts: [text] }]
  const [hypothesis] = await recogniseAll(scripts, scripted(scripts), true, { neededFrames })
  expect(hypothesis).toMatchObject({ tokens: expected, verdict: 'good', unfinished: null })
  const { logProbability = 0, logProbabilities = [] } = hypothesis ?? {}
  expect(logProbabilities.length).toBe(expected.length)
  expect(logProbability).toBeCloseTo(logProbabilities.reduce((sum, each) => sum + each) / expected.length, 2)
  const [whole] = await recogniseAll(scripts, scripted(scripts), true)
  expect(whole?.tokens).toEqual(text)
})

test('a text has no more tokens than the positions of the decoder that the prompt leaves', async () => {
  const text = Array.from({ length: 20 }, (_, id) => id)
  const scripts = [{ attempts: [text] }]
  const few = { ...whisper, facts: { ...facts, positions: 12 } } as Whisper
  const [hypothesis] = await recogniseAll(scripts, scripted(scripts), false, {}, few)
  // The decoder has 12 positions. The text is longer and is cut off, so the window is decoded again. The prompt of the
  // first attempt has two tokens, and the prompt of later attempts has one. In a later attempt, the prompt needs one
  // position and the end token needs one, so the text can have ten tokens. The last token of a text that is cut off is
  // removed.
  expect(hypothesis!.tokens.length).toBe(12 - 1 - 1 - 1)
})

test.each([
  [0.48, null],
  [0.5, { tokens: 4, frame: 25 }],
])('a text that ends with two timestamp tokens at %d s leaves %j to be heard again', (second, unfinished) => {
  const tokens = [at(0), 1, 2, at(second), at(second)]
  const hypothesis = { ...emptyHypothesis(1500, 0, 0), tokens, logProbabilities: tokens.map(() => -0.1) }
  expect(unfinishedAtEnd(hypothesis, firstTimestamp)).toEqual(unfinished)
})

import { expect, test } from 'bun:test'
import type { Batch, Decoder } from '../../../src/engine/hear/decoder.ts'
import { guards } from '../../../src/engine/hear/guard.ts'
import { recognise } from '../../../src/engine/hear/recognise.ts'
import { readTokenizer } from '../../../src/engine/hear/tokenizer.ts'
import type { Facts, Whisper } from '../../../src/engine/hear/whisper.ts'

const words = Array.from({ length: 20 }, (_, id) => `Ġ${String.fromCharCode(97 + id).repeat(3)}`)
const [end, noSpeech, vocabulary] = [20, 21, 24]
const tokenizer = readTokenizer(
  JSON.stringify({
    model: { vocab: Object.fromEntries(words.map((word, id) => [word, id])) },
    added_tokens: [],
  }),
)
const facts: Partial<Facts> = {
  vocabulary,
  positions: 448,
  start: 22,
  end,
  noSpeech,
  noTimestamps: 23,
  firstTimestamp: 24,
  suppressed: [],
  suppressedAtStart: [],
}
const whisper = { facts, tokenizer } as unknown as Whisper

/** What a row says at each try; a number below zero is a token that the model is not sure of. */
type Script = { tries: number[][]; noSpeech?: number }

/** Says what is written for each row, and keeps which rows it was asked for. */
function scripted(scripts: readonly Script[]): Decoder & { begun: number[][] } {
  const tries = scripts.map(() => 0)
  const begun: number[][] = []
  return {
    begun,
    begin(states, rows): Batch {
      const live = Array.from({ length: rows }, (_, row) => ({ script: states[row]!, at: 0, turn: 0 }))
      for (const each of live) each.turn = tries[each.script]!++
      begun.push(live.map(each => each.script))
      return {
        get rows() {
          return live.length
        },
        logits(row, position) {
          const { script, at, turn } = live[row]!
          const { tries, noSpeech: silent = 0 } = scripts[script]!
          const scores = new Float32Array(vocabulary)
          // At the first position stands whether there is speech at all.
          if (position === 0) scores[noSpeech] = silent > 0.5 ? 12 : -12
          else {
            const said = (tries[turn] ?? tries.at(-1)!)[at] ?? end
            scores[said < 0 ? -said : said] = said < 0 ? 0.1 : 12
          }
          return scores
        },
        attention: () => new Float32Array(0),
        step() {
          for (const each of live) each.at++
        },
        drop(row) {
          live[row] = live.at(-1)!
          live.pop()
        },
        close() {},
      }
    },
  }
}

function hear(scripts: readonly Script[], decoder = scripted(scripts)) {
  return recognise(
    Float32Array.from(scripts.keys()),
    scripts.map(() => ({ frames: 500, speechSeconds: 5 })),
    {
      whisper,
      decoder,
      prompt: [22],
      timestamps: false,
      attention: false,
      random: () => 0.5,
      onShare: async () => {},
    },
  )
}

const sure = [1, 2, 3, 4]
const unsure = [-1, -2, -3, -4, -5]
const loop = Array.from({ length: 60 }, (_, at) => 5 + (at % 3))

test('rows that end at different steps keep what each of them said', async () => {
  const said = [[1], [2, 3, 4, 5, 6, 7], [8, 9], [10, 11, 12]]
  const heard = await hear(said.map(tokens => ({ tries: [tokens] })))
  expect(heard.map(each => each.tokens)).toEqual(said)
  expect(heard.every(each => each.verdict === 'good' && each.temperature === 0)).toBe(true)
})

test('only the rows that failed are tried again, a little warmer', async () => {
  const scripts = [{ tries: [sure] }, { tries: [loop, sure] }, { tries: [sure] }, { tries: [unsure, sure] }]
  const decoder = scripted(scripts)
  const heard = await hear(scripts, decoder)
  expect(decoder.begun).toEqual([
    [0, 1, 2, 3],
    [1, 3],
  ])
  expect(heard.map(each => each.temperature)).toEqual([0, 0.2, 0, 0.2])
  expect(heard.every(each => each.verdict === 'good')).toBe(true)
})

test('what loops at every temperature is cut to its first round and doubted', async () => {
  const scripts = [{ tries: [loop] }, { tries: [sure] }]
  const decoder = scripted(scripts)
  const [looped, good] = await hear(scripts, decoder)
  expect(decoder.begun.length).toBe(guards.temperatures.length)
  expect(looped).toMatchObject({ tokens: [5, 6, 7], verdict: 'doubtful' })
  expect(good!.tokens).toEqual(sure)
})

test('unsure words where there is likely no speech are silence, and are not tried again', async () => {
  const scripts = [{ tries: [unsure], noSpeech: 1 }]
  const decoder = scripted(scripts)
  const [heard] = await hear(scripts, decoder)
  expect(heard!.verdict).toBe('silence')
  expect(decoder.begun.length).toBe(1)
})

test('sure words stand even where the model first thought of silence', async () => {
  const [heard] = await hear([{ tries: [sure], noSpeech: 1 }])
  expect(heard).toMatchObject({ verdict: 'good', tokens: sure })
})

test('no text for seconds of speech is tried again', async () => {
  const scripts = [{ tries: [[], sure] }]
  const [heard] = await hear(scripts)
  expect(heard).toMatchObject({ tokens: sure, temperature: 0.2 })
})

import { expect, test } from 'bun:test'
import { rulesOf } from '../../../src/engine/hear/allowed.ts'
import type { Facts } from '../../../src/engine/hear/facts.ts'
import { choose } from '../../../src/engine/hear/rules.ts'
import { probabilityOf } from '../../../src/engine/hear/scores.ts'

// The vocabulary: ten words (0 to 9), the end of text (10), four special tokens (11 to 14), and timestamp tokens from
// 15 on.
const [end, first] = [10, 15]
const facts = {
  vocabulary: first + 1501,
  start: 11,
  end,
  noSpeech: 12,
  noTimestamps: 14,
  firstTimestamp: first,
  suppressed: [3],
  suppressedAtStart: [4, end],
} as Facts

function scores(given: Record<number, number>): Float32Array {
  const row = new Float32Array(facts.vocabulary).fill(-30)
  for (const [id, score] of Object.entries(given)) row[Number(id)] = score
  return row
}

const next = (given: Record<number, number>, before: number[], timestamps = true) =>
  choose(rulesOf(facts, timestamps), scores(given), { tokens: before, frames: 1000 }).token

const one = { tokens: [6], frames: 1000 }

test.each([
  ['the first token is a timestamp token', { 5: 9, 20: 1 }, [], 20],
  ['the first time is at most a second', { [first + 51]: 9, [first + 50]: 1 }, [], first + 50],
  ['text follows the first timestamp token', { 16: 9, 5: 1 }, [15], 5],
  ['an opening timestamp token follows a closing one', { 5: 9, 21: 1 }, [15, 5, 20], 21],
  ['a segment does not end at the time at which it begins', { 20: 9, 21: 1 }, [20, 5], 21],
  ['the opening time may equal the closing one', { 20: 1, 19: 9 }, [15, 5, 20], 20],
  ['the end may follow a closing timestamp token', { 5: 9, [end]: 8, 21: 1 }, [15, 5, 20], end],
  [
    'the end may follow two timestamp tokens if less than 1.5 s of sound follow',
    { 5: 8, [end]: 9 },
    [15, 5, 941, 941],
    end,
  ],
  [
    'text must follow two timestamp tokens if 1.5 s of sound follow',
    { 5: 8, [end]: 9 },
    [15, 5, 940, 940],
    5,
  ],
  ['the end may follow the first timestamp token', { 5: 8, [end]: 9 }, [15], end],
  [
    'no time lies after the end of the sound',
    { [first + 1001]: 9, [first + 1000]: 8 },
    [15, 6],
    first + 1000,
  ],
  ['times do not go backwards', { 16: 9, 5: 1 }, [15, 5, 20, 20], 5],
  ['a suppressed token is not chosen', { 3: 9, 5: 1 }, [15, 6], 5],
  ['a special token is not chosen', { 11: 9, 12: 9, 13: 9, 14: 9, 5: 1 }, [15, 6], 5],
  [
    'timestamp tokens win when their sum exceeds the likeliest text token',
    { 5: 2, 40: 1.9, 41: 1.9, 42: 1.9 },
    [15, 6],
    40,
  ],
] as const)('%s', (_, given, before, token) => {
  expect(next(given, [...before])).toBe(token)
})

test('without timestamps there are no timestamp tokens, and some tokens are suppressed at the start', () => {
  expect(next({ 20: 9, 5: 1 }, [], false)).toBe(5)
  expect(next({ 4: 9, [end]: 9, 5: 1 }, [], false)).toBe(5)
  expect(next({ 4: 9, 5: 1 }, [5], false)).toBe(4)
})

test('the probability is relative to the allowed tokens', () => {
  const { logProbability } = choose(rulesOf(facts, false), scores({ 3: 50, 20: 50, 5: 2, 6: 2 }), one)
  expect(Math.exp(logProbability)).toBeCloseTo(0.5, 4)
  expect(probabilityOf(scores({ 12: 2, 5: 2 }), 12)).toBeCloseTo(0.5, 4)
})

test.each([
  { name: 'text is probable', given: { 3: 4, 5: 3, 6: 2, 20: 1, 40: 1, 41: 0.5 } },
  { name: 'suppressed tokens are far more probable than text', given: { 3: 30, 12: 30, 5: 3, 6: 2 } },
])('the probability is the same if the total of all scores is given: $name', ({ given }) => {
  const all = scores(given)
  const logTotal = Math.fround(Math.log(all.reduce((sum, score) => sum + Math.exp(score), 0)))
  const history = { tokens: [15, 6], frames: 1500 }
  const rules = rulesOf(facts, true)
  const without = choose(rules, all.slice(), history)
  const withTotal = choose(rules, all.slice(), history, { logTotal })
  expect(withTotal.token).toBe(without.token)
  expect(withTotal.logProbability).toBeCloseTo(without.logProbability, 4)
})

test('above temperature 0 tokens are sampled by their probability, within the rules', () => {
  const counts = new Map<number, number>()
  for (let draw = 0; draw < 1000; draw++) {
    const random = () => (draw + 0.5) / 1000
    const { token } = choose(rulesOf(facts, false), scores({ 3: 9, 5: Math.log(3), 6: 0 }), one, {
      temperature: 1,
      random,
    })
    counts.set(token, (counts.get(token) ?? 0) + 1)
  }
  expect(counts.get(5)).toBeCloseTo(750, -1)
  expect(counts.get(6)).toBeCloseTo(250, -1)
})

test('a lower temperature makes the probable tokens more probable, and no forbidden token is drawn', () => {
  const drawn = (random: number, temperature: number, suppressed = [3]) =>
    choose(rulesOf({ ...facts, suppressed }, false), scores({ 5: Math.log(3), 6: 0 }), one, {
      temperature,
      random: () => random,
    }).token
  // Only tokens 5 and 6 are likely. The probability of token 5 is 0.75 at temperature 1, and 0.9 at temperature 0.5. A
  // random number below this probability draws token 5, and a higher one draws token 6. So 0.8 draws token 6 only at
  // temperature 1.
  expect([drawn(0.8, 1), drawn(0.8, 0.5)]).toEqual([6, 5])
  expect(drawn(0, 1, [0])).not.toBe(0)
})

test('the probability of a token differs by less than 0.005 % from the exact probability', () => {
  const scores = Float32Array.from({ length: 1000 }, (_, id) => -id / 50)
  const total = scores.reduce((sum, score) => sum + Math.exp(score), 0)
  for (const id of [0, 100, 500])
    expect(probabilityOf(scores, id) / (Math.exp(scores[id]!) / total)).toBeCloseTo(1, 4)
})

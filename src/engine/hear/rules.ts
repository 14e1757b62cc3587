// Whisper's rules for the next token of a text. The rules say which tokens are never allowed, and when a time token is
// allowed. The decoder never chooses a token that the rules forbid. The probability of the chosen token is its share
// among the allowed tokens.

import { framesPerSecond } from '../audio.ts'
import type { Facts } from './facts.ts'

export type NextToken = { token: number; logProbability: number }

/**
 * If a score is this much lower than the highest score, the score is ignored. Its probability is too small to change a
 * sum of 32-bit floats.
 */
const negligible = 18
/**
 * The latest allowed value of the first time token of a window: 50 × 0.02 s = 1 s. A window begins with speech, so its
 * first segment begins early.
 */
const firstTimestampMax = 50

/**
 * If at least this much sound follows two time tokens, the text must not end there. It is 1.5 s, in model frames. Two
 * time tokens mean that more speech follows. The model was trained to stop there, because its windows end at any point
 * of the speech. The windows here end at pauses, so the model can write the rest too.
 */
const restMin = 1.5 * framesPerSecond

export type Rules = { facts: Facts; suppressed: Set<number>; timestamps: boolean }

/**
 * The tokens of a window's text so far, and the length of the sound in the window, in model frames. A time token must
 * not be later than the end of the sound.
 */
export type History = { tokens: readonly number[]; frames: number }

export function rulesOf(facts: Facts, timestamps: boolean): Rules {
  const specials = [facts.noTimestamps, facts.noSpeech, facts.start].filter(id => id !== null)
  return { facts, suppressed: new Set([...facts.suppressed, ...specials]), timestamps }
}

/**
 * Chooses the next token of a text. At temperature 0, the most probable token is chosen. At a higher temperature, a
 * token is drawn at random, according to the probabilities. `random` returns numbers from 0 to 1. The call changes the
 * values in `scores`.
 */
export function choose(
  rules: Rules,
  scores: Float32Array,
  history: History,
  temperature = 0,
  random: () => number = Math.random,
): NextToken {
  for (const id of rules.suppressed) scores[id] = Number.NEGATIVE_INFINITY
  if (history.tokens.length === 0)
    for (const id of rules.facts.suppressedAtStart) scores[id] = Number.NEGATIVE_INFINITY

  const allowed = allowedAfter(history, rules)
  const text = bestText(scores, allowed.text.to)
  const stop = bestIn(scores, allowed.end)
  const time = bestIn(scores, allowed.times)
  const top = Math.max(text.score, time.score, stop.score)
  const timeSum = sumOf(scores, allowed.times, top)
  // Whisper's rule: if the sum of the probabilities of all time tokens is higher than the probability of each text
  // token and of the end token, only a time token is allowed.
  const onlyTime = Math.log(timeSum) + top > Math.max(text.score, stop.score)

  const candidates = onlyTime ? [time] : [stop, text, time]
  const best = candidates.reduce((best, candidate) => (candidate.score > best.score ? candidate : best))
  const ranges = onlyTime ? [allowed.times] : [allowed.times, allowed.text, allowed.end]
  const total = onlyTime
    ? timeSum
    : timeSum + Math.exp(stop.score - top) + sumOfText(scores, allowed.text.to, top)
  const token = temperature === 0 ? best.token : draw(scores, ranges, top, temperature, random)
  return { token, logProbability: (scores[token] ?? nothing.score) - top - Math.log(total) }
}

/** A range of token ids, from `from` (inclusive) to `to` (exclusive). */
type Range = { from: number; to: number }

/**
 * The tokens that may come next: ranges of text tokens, of the end token, and of time tokens. An empty range means that
 * no token of this kind is allowed.
 */
type Allowed = { text: Range; end: Range; times: Range }

/**
 * Returns the tokens that may come next in the text. A segment begins and ends with a time token, and times never
 * decrease.
 */
export function allowedAfter({ tokens, frames }: History, { facts, timestamps }: Rules): Allowed {
  const { end, firstTimestamp: first, vocabulary } = facts
  const none = { from: 0, to: 0 }
  // The ids between the end token and the first time token belong to special tokens. Special tokens are never chosen.
  const text = { from: 0, to: Math.min(end, first) }
  const stop = { from: end, to: end + 1 }
  if (!timestamps) return { text, end: stop, times: none }
  const to = Math.min(vocabulary, first + frames + 1)
  const last = tokens.at(-1)
  if (last === undefined) {
    const times = { from: first, to: Math.min(to, first + firstTimestampMax + 1) }
    return { text: none, end: none, times }
  }
  if (last < first) {
    const latest = tokens.findLast(id => id >= first)
    return { text, end: stop, times: { from: latest === undefined ? first : latest + 1, to } }
  }
  const opens = (tokens.at(-2) ?? first) >= first
  if (!opens) return { text: none, end: stop, times: { from: last, to } }
  const mustGoOn = tokens.length > 1 && first + frames - last >= restMin
  return { text, end: mustGoOn ? none : stop, times: none }
}

type Candidate = { token: number; score: number }

const nothing: Candidate = { token: -1, score: Number.NEGATIVE_INFINITY }

function bestIn(scores: Float32Array, { from, to }: Range): Candidate {
  let best = nothing
  for (let id = from; id < to; id++) {
    if (scores[id]! > best.score) best = { token: id, score: scores[id]! }
  }
  return best
}

/**
 * The text tokens are divided into groups of `runLength` consecutive tokens. `runScores` has the highest score of each
 * group. `sumOfText` skips a group if its highest score is too low to change the sum.
 */
const runLength = 128
const runScores = new Float32Array(1024)

function bestText(scores: Float32Array, count: number): Candidate {
  let score = Number.NEGATIVE_INFINITY
  let token = 0
  for (let run = 0, from = 0; from < count; run++, from += runLength) {
    const to = Math.min(from + runLength, count)
    let most = Number.NEGATIVE_INFINITY
    for (let id = from; id < to; id++) if (scores[id]! > most) most = scores[id]!
    runScores[run] = most
    if (most > score) {
      score = most
      token = from
    }
  }
  if (score === Number.NEGATIVE_INFINITY) return nothing
  while (scores[token] !== score) token++
  return { token, score }
}

function sumOfText(scores: Float32Array, count: number, top: number): number {
  let sum = 0
  for (let run = 0, from = 0; from < count; run++, from += runLength) {
    const to = Math.min(from + runLength, count)
    if (runScores[run]! > top - negligible) sum += sumOf(scores, { from, to }, top)
  }
  return sum
}

/**
 * Returns the probability of `token` among all tokens of the vocabulary, including the tokens that the rules forbid.
 */
export function probabilityOf(scores: Float32Array, token: number): number {
  let top = Number.NEGATIVE_INFINITY
  for (let id = 0; id < scores.length; id++) if (scores[id]! > top) top = scores[id]!
  return Math.exp((scores[token] ?? nothing.score) - top) / sumOf(scores, { from: 0, to: scores.length }, top)
}

/** Returns the sum of exp(score - top) over the range. Negligible scores are ignored. No score is higher than `top`. */
function sumOf(scores: Float32Array, { from, to }: Range, top: number): number {
  let sum = 0
  const least = top - negligible
  for (let id = from; id < to; id++) {
    if (scores[id]! <= least) continue
    const place = (top - scores[id]!) * stepsPerUnit
    const step = Math.trunc(place)
    const before = powers[step]!
    sum += before + (place - step) * (powers[step + 1]! - before)
  }
  return sum
}

/**
 * A table of the values exp(-n / 64). `sumOf` interpolates between these values, because the sum has tens of thousands
 * of terms for each token, and `Math.exp` takes twice as long. The error of the sum is less than 0.004 %.
 */
const stepsPerUnit = 64
const powers = Float64Array.from({ length: negligible * stepsPerUnit + 2 }, (_, step) =>
  Math.exp(-step / stepsPerUnit),
)

function draw(
  scores: Float32Array,
  ranges: readonly Range[],
  top: number,
  temperature: number,
  random: () => number,
): number {
  const weightOf = (id: number) => Math.exp((scores[id]! - top) / temperature)
  let total = 0
  for (const { from, to } of ranges) for (let id = from; id < to; id++) total += weightOf(id)
  let left = random() * total
  let last = -1
  for (const { from, to } of ranges) {
    for (let id = from; id < to; id++) {
      const weight = weightOf(id)
      if (weight > 0) last = id
      left -= weight
      if (left < 0) return id
    }
  }
  return last
}

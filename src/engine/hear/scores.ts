// Finds the token with the highest score, computes the probability of a token, and draws a random token.

import type { Range } from './allowed.ts'

/**
 * Sums ignore a score that is lower than the highest score by at least this number. The exponential of such a low score
 * would not change a sum of 32-bit floats.
 */
const negligible = 18

type Candidate = { token: number; score: number }

export const nothing: Candidate = { token: -1, score: Number.NEGATIVE_INFINITY }

export function bestIn(scores: Float32Array, { from, to }: Range): Candidate {
  let best = nothing
  for (let id = from; id < to; id++) {
    if (scores[id]! > best.score) best = { token: id, score: scores[id]! }
  }
  return best
}

/**
 * The number of text tokens in a group. `sumOfText` skips groups of improbable tokens. The last group may have fewer
 * tokens.
 */
const groupSize = 128
/**
 * The highest score of each group of text tokens. `bestText` writes these scores, so that `sumOfText` can skip a group
 * in which every token is improbable.
 */
const groupScores = new Float32Array(1024)

export function bestText(scores: Float32Array, count: number): Candidate {
  let score = Number.NEGATIVE_INFINITY
  let token = 0
  for (let group = 0, from = 0; from < count; group++, from += groupSize) {
    const to = Math.min(from + groupSize, count)
    let most = Number.NEGATIVE_INFINITY
    for (let id = from; id < to; id++) if (scores[id]! > most) most = scores[id]!
    groupScores[group] = most
    if (most > score) {
      score = most
      token = from
    }
  }
  if (score === Number.NEGATIVE_INFINITY) return nothing
  while (scores[token] !== score) token++
  return { token, score }
}

export function sumOfText(scores: Float32Array, count: number, top: number): number {
  let sum = 0
  for (let group = 0, from = 0; from < count; group++, from += groupSize) {
    const to = Math.min(from + groupSize, count)
    if (groupScores[group]! > top - negligible) sum += sumOf(scores, { from, to }, top)
  }
  return sum
}

/** Returns the probability of `token` among all tokens of the vocabulary, forbidden ones included. */
export function probabilityOf(scores: Float32Array, token: number): number {
  let top = Number.NEGATIVE_INFINITY
  for (let id = 0; id < scores.length; id++) if (scores[id]! > top) top = scores[id]!
  return Math.exp((scores[token] ?? nothing.score) - top) / sumOf(scores, { from: 0, to: scores.length }, top)
}

/**
 * Returns the sum of exp(score - top) over the tokens in the range. `top` must not be lower than the highest score. A
 * score of `top - negligible` or lower is ignored.
 */
export function sumOf(scores: Float32Array, { from, to }: Range, top: number): number {
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

const stepsPerUnit = 64
/**
 * The values exp(-n / 64), between which `sumOf` interpolates. `Math.exp` would take twice as long for tens of
 * thousands of terms. The error of a sum is less than 0.004 %.
 */
const powers = Float64Array.from({ length: negligible * stepsPerUnit + 2 }, (_, step) =>
  Math.exp(-step / stepsPerUnit),
)

export function draw(
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

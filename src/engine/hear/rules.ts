// Chooses the next token of a text. A token that Whisper's rules (allowed.ts) forbid is never chosen. The probability
// of a token is its share of the total probability of all allowed tokens.

import { allowedAfter, type History, type Rules } from './allowed.ts'
import { bestIn, bestText, draw, nothing, sumOf, sumOfText } from './scores.ts'

export type NextToken = { token: number; logProbability: number }

/**
 * Chooses the next token of a text: the most probable one at temperature 0, or a random one at a higher temperature.
 * `random` returns numbers from 0 to 1. `logTotal` is the logarithm of the sum of exp(score) over all tokens, or null
 * if not known. Changes the values in `scores`.
 */
export function choose(
  rules: Rules,
  scores: Float32Array,
  history: History,
  {
    temperature = 0,
    random = Math.random,
    logTotal = null,
  }: { temperature?: number; random?: () => number; logTotal?: number | null } = {},
): NextToken {
  const allowed = allowedAfter(history, rules)
  const isTextAllowed = allowed.text.to > 0
  const share = logTotal !== null && isTextAllowed ? textShare(rules, scores, history, logTotal) : 0
  for (const id of rules.suppressed) scores[id] = Number.NEGATIVE_INFINITY
  if (history.tokens.length === 0)
    for (const id of rules.facts.suppressedAtStart) scores[id] = Number.NEGATIVE_INFINITY

  const text = bestText(scores, allowed.text.to)
  const stop = bestIn(scores, allowed.end)
  const time = bestIn(scores, allowed.times)
  const top = Math.max(text.score, time.score, stop.score)
  const timeSum = sumOf(scores, allowed.times, top)
  // Whisper's rule: if the timestamp tokens together are more probable than any other token, only a timestamp token is
  // allowed.
  const onlyTime = Math.log(timeSum) + top > Math.max(text.score, stop.score)

  const textSum = () =>
    share < textShareMin || logTotal === null
      ? sumOfText(scores, allowed.text.to, top)
      : share * Math.exp(logTotal - top)
  const candidates = onlyTime ? [time] : [stop, text, time]
  const best = candidates.reduce((best, candidate) => (candidate.score > best.score ? candidate : best))
  const ranges = onlyTime ? [allowed.times] : [allowed.times, allowed.text, allowed.end]
  const total = onlyTime ? timeSum : timeSum + Math.exp(stop.score - top) + textSum()
  const token = temperature === 0 ? best.token : draw(scores, ranges, top, temperature, random)
  return { token, logProbability: (scores[token] ?? nothing.score) - top - Math.log(total) }
}

/**
 * If the result of `textShare` is below this limit, its rounding error is too large. The probabilities of all text
 * tokens are then added up instead.
 */
const textShareMin = 0.01

/**
 * Returns the total probability of all text tokens that are not forbidden. Subtracts the probabilities of all other
 * tokens from 1. The other tokens are few, so the subtraction takes a tenth of the time of a sum over all text tokens.
 */
function textShare(
  { facts, suppressed }: Rules,
  scores: Float32Array,
  { tokens }: History,
  logTotal: number,
): number {
  const textEnd = Math.min(facts.end, facts.firstTimestamp)
  let share = 1 - sumOf(scores, { from: textEnd, to: scores.length }, logTotal)
  const forbidden = tokens.length === 0 ? suppressed.union(new Set(facts.suppressedAtStart)) : suppressed
  for (const id of forbidden) if (id < textEnd) share -= Math.exp((scores[id] ?? nothing.score) - logTotal)
  return share
}

// Chooses the next token of a text. The decoder never chooses a token that Whisper's rules forbid (allowed.ts). The
// probability of the chosen token is its share of the total probability of all allowed tokens.

import { allowedAfter, type History, type Rules } from './allowed.ts'
import { bestIn, bestText, draw, nothing, sumOf, sumOfText } from './scores.ts'

export type NextToken = { token: number; logProbability: number }

/**
 * Chooses the next token of a text: the most probable one at temperature 0, or a random one at a higher temperature.
 * `random` returns numbers from 0 to 1. The call changes the values in `scores`.
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
  // Whisper's rule: if the sum of the probabilities of all timestamp tokens is higher than the probability of each text
  // token and of the end token, only a timestamp token is allowed.
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

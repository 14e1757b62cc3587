// Which token may come next: Whisper's own rules for suppressed tokens and timestamps, as a choice over one row
// of scores. What the rules forbid counts neither for the choice nor for its probability.

import type { Facts } from './whisper.ts'

export type Choice = { token: number; logProbability: number }

/** Below the loudest by this much, a score adds nothing that a float would keep. */
const negligible = 18
/** No speech begins later than this in a window that begins with speech: 1 s in steps of 0.02 s. */
const firstTimestampMax = 50

export type Rules = { facts: Facts; suppressed: Set<number>; timestamps: boolean }

/** What has been said so far, and how many model frames of sound there are: no later time is said. */
export type Said = { tokens: readonly number[]; frames: number }

export function rulesOf(facts: Facts, timestamps: boolean): Rules {
  const marks = [facts.noTimestamps, facts.noSpeech, facts.start].filter(each => each !== null)
  return { facts, suppressed: new Set([...facts.suppressed, ...marks]), timestamps }
}

/** The best token at temperature 0, or one drawn with `random` (0…1) at a higher one. */
export function choose(
  { facts, suppressed, timestamps }: Rules,
  scores: Float32Array,
  { tokens: before, frames }: Said,
  temperature = 0,
  random: () => number = Math.random,
): Choice {
  const { end, firstTimestamp: first, vocabulary } = facts
  for (const id of suppressed) scores[id] = Number.NEGATIVE_INFINITY
  if (before.length === 0) for (const id of facts.suppressedAtStart) scores[id] = Number.NEGATIVE_INFINITY
  // Special tokens between the end of text and the first timestamp are never said.
  const textMax = Math.min(end, first)
  const text = { allowed: true, score: Number.NEGATIVE_INFINITY, token: -1 }
  const stop = { allowed: before.length > 0 || !timestamps, score: scores[end]! }
  const times = { from: first, to: Math.min(vocabulary, first + frames + 1) }

  if (!timestamps) {
    times.to = times.from
  } else {
    const last = before.at(-1) ?? -1
    const afterTimestamp = last >= first
    const afterTwo = before.length < 2 || before.at(-2)! >= first
    if (afterTimestamp && afterTwo) times.to = times.from
    else if (afterTimestamp) text.allowed = false
    if (before.length === 0) {
      text.allowed = false
      times.to = Math.min(times.to, first + firstTimestampMax + 1)
    }
    const latest = before.findLast(each => each >= first)
    if (latest !== undefined) times.from = afterTimestamp && !afterTwo ? latest : latest + 1
  }

  if (text.allowed) findBest(scores, textMax, text)
  let time = { score: Number.NEGATIVE_INFINITY, token: -1 }
  for (let id = times.from; id < times.to; id++) {
    if (scores[id]! > time.score) time = { score: scores[id]!, token: id }
  }
  const stopScore = stop.allowed ? stop.score : Number.NEGATIVE_INFINITY
  const top = Math.max(text.score, time.score, stopScore)
  const timeSum = sumOf(scores, times.from, times.to, top)
  // When the timestamps together outweigh the best of the rest, one of them it is.
  const timesWin = Math.log(timeSum) + top > Math.max(text.score, stopScore)
  if (timesWin) {
    text.allowed = false
    stop.allowed = false
  }
  let total = timeSum
  if (stop.allowed) total += Math.exp(stopScore - top)
  if (text.allowed) total += sumOfText(scores, textMax, top)

  const best =
    stop.allowed && stopScore >= text.score && stopScore >= time.score
      ? { score: stopScore, token: end }
      : text.allowed && text.score >= time.score
        ? text
        : time
  const spans: [number, number][] = [[times.from, times.to]]
  if (text.allowed) spans.push([0, textMax])
  if (stop.allowed) spans.push([end, end + 1])
  const token = temperature === 0 ? best.token : draw(scores, spans, top, temperature, random)
  return { token, logProbability: scores[token]! - top - Math.log(total) }
}

/** The loudest score of each run of text tokens, kept from the search so that the sum can skip quiet runs. */
const runLength = 128
const loudest = new Float32Array(1024)

function findBest(scores: Float32Array, count: number, best: { score: number; token: number }): void {
  let bestRun = 0
  for (let run = 0, from = 0; from < count; run++, from += runLength) {
    const to = Math.min(from + runLength, count)
    let most = Number.NEGATIVE_INFINITY
    for (let id = from; id < to; id++) if (scores[id]! > most) most = scores[id]!
    loudest[run] = most
    if (most > best.score) {
      best.score = most
      bestRun = from
    }
  }
  if (best.score === Number.NEGATIVE_INFINITY) return
  best.token = bestRun
  while (scores[best.token] !== best.score) best.token++
}

function sumOfText(scores: Float32Array, count: number, top: number): number {
  let sum = 0
  for (let run = 0, from = 0; from < count; run++, from += runLength) {
    if (loudest[run]! > top - negligible) sum += sumOf(scores, from, Math.min(from + runLength, count), top)
  }
  return sum
}

/** Probability of `token` among all tokens, rules aside. */
export function probabilityOf(scores: Float32Array, token: number): number {
  let top = Number.NEGATIVE_INFINITY
  for (let id = 0; id < scores.length; id++) if (scores[id]! > top) top = scores[id]!
  return Math.exp(scores[token]! - top) / sumOf(scores, 0, scores.length, top)
}

function sumOf(scores: Float32Array, from: number, to: number, top: number): number {
  let sum = 0
  const least = top - negligible
  for (let id = from; id < to; id++) if (scores[id]! > least) sum += Math.exp(scores[id]! - top)
  return sum
}

function draw(
  scores: Float32Array,
  spans: [number, number][],
  top: number,
  temperature: number,
  random: () => number,
): number {
  const weight = (id: number) => Math.exp((scores[id]! - top) / temperature)
  let total = 0
  for (const [from, to] of spans) for (let id = from; id < to; id++) total += weight(id)
  let left = random() * total
  let last = -1
  for (const [from, to] of spans) {
    for (let id = from; id < to; id++) {
      const each = weight(id)
      if (each > 0) last = id
      left -= each
      if (left < 0) return id
    }
  }
  return last
}

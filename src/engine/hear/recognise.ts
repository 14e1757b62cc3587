// Decoding of a batch of windows. Each row is judged on its own, and only rows that fail are decoded again, at the
// next higher temperature.

import { framesPerSecond } from '../audio.ts'
import { guards, judge, loopStart } from './guard.ts'
import type { Batch, Decoder, EncodedWindow } from './network.ts'
import { choose, probabilityOf, type Rules, rulesOf } from './rules.ts'
import type { Whisper } from './whisper.ts'

/** The tokens that were decoded for a window. */
export type Hypothesis = {
  tokens: number[]
  /** Of each token. */
  logProbabilities: number[]
  /**
   * Of the step that predicts each token, and of the one that predicts the end; heads × frames each. Empty when not
   * asked for.
   */
  attention: Float32Array[]
  frames: number
  /** Null when the model gave text for the whole window. */
  unfinished: Unfinished | null
  noSpeech: number
  /** Mean over the tokens and the end. */
  logProbability: number
  temperature: number
  /** `doubtful` is the best of all attempts when each of them failed. */
  verdict: 'good' | 'silence' | 'doubtful'
}

/** The first `tokens` tokens are kept, and the window is heard again from `frame`. */
export type Unfinished = { tokens: number; frame: number }

export function upTo(hypothesis: Hypothesis, unfinished: Unfinished | null): Hypothesis {
  const { tokens, logProbabilities, attention } = hypothesis
  const count = unfinished?.tokens ?? tokens.length
  return {
    ...hypothesis,
    tokens: tokens.slice(0, count),
    logProbabilities: logProbabilities.slice(0, count),
    attention: attention.slice(0, count + 1),
  }
}

export type Row = { frames: number; speechSeconds: number }

export type RecogniseOptions = {
  whisper: Whisper
  decoder: Decoder
  prompt: readonly number[]
  timestamps: boolean
  attention: boolean
  random: () => number
  /** Called at each step with the share of rows that are done. */
  onShare: (share: number) => Promise<void>
}

/** The most tokens of a window. In scripts of many tokens a letter the speech goes on after them. */
const windowTokens = 224

/** A row with its window, and its best hypothesis so far. */
type Task = { row: Row; window: EncodedWindow; best: Hypothesis }

export async function recognise(
  windows: readonly EncodedWindow[],
  rows: readonly Row[],
  options: RecogniseOptions,
): Promise<Hypothesis[]> {
  const tasks = windows.map((window, index): Task => {
    const row = rows[index]!
    return { row, window, best: emptyHypothesis(row.frames, 0, 0) }
  })
  let open = tasks
  for (const temperature of guards.temperatures) {
    const attempts = await decodeRows(open, temperature, options)
    open = []
    for (const { task, hypothesis, looped } of attempts) {
      const text = options.whisper.tokenizer.decode(hypothesis.tokens)
      const verdict = judge({ ...hypothesis, looped, text, speechSeconds: task.row.speechSeconds })
      if (verdict === 'again') open.push(task)
      else hypothesis.verdict = verdict
      task.best = better(task.best, hypothesis)
    }
    if (open.length === 0) break
  }
  return tasks.map(task => task.best)
}

/** An attempt that passed wins; of those that failed, the likelier text. A loop was cut to its first round before. */
function better(before: Hypothesis, now: Hypothesis): Hypothesis {
  if (now.verdict !== 'doubtful') return now
  if (now.tokens.length === 0) return before
  return before.tokens.length === 0 || now.logProbability > before.logProbability ? now : before
}

type Attempt = {
  task: Task
  hypothesis: Hypothesis
  looped: boolean
  /** The model's limit of tokens, and the lower one of this row when the time is too short for so many. */
  tokensMax: number
  limit: number
}

async function decodeRows(
  tasks: readonly Task[],
  temperature: number,
  { whisper, decoder, prompt, timestamps, attention, random, onShare }: RecogniseOptions,
): Promise<Attempt[]> {
  const { facts } = whisper
  const rules = rulesOf(facts, timestamps)
  const batch = decoder.begin(
    tasks.map(({ window }) => window),
    prompt,
  )
  const tokensMax = Math.min(windowTokens, facts.positions - prompt.length - 1)
  const attempts = tasks.map((task, index): Attempt => {
    const { frames } = task.row
    const noSpeech = facts.noSpeech === null ? 0 : probabilityOf(batch.logits(index, 0), facts.noSpeech)
    const hypothesis = emptyHypothesis(frames, noSpeech, temperature)
    const limits = { tokensMax, limit: Math.min(tokensMax, plausibleTokens(frames)) }
    return { task, hypothesis, looped: false, ...limits }
  })
  try {
    const live = [...attempts]
    while (live.length > 0) {
      await onShare(1 - live.length / tasks.length)
      const next = live.map((attempt, row) =>
        extend(attempt, batch, row, { rules, temperature, random, attention }),
      )
      for (let row = live.length - 1; row >= 0; row--) {
        if (next[row] !== null) continue
        batch.drop(row)
        drop(live, row)
        drop(next, row)
      }
      if (live.length > 0) batch.step(next.filter(token => token !== null))
    }
  } finally {
    batch.close()
  }
  return attempts
}

/** Removes a row as the batch does: the last row takes its place. */
function drop<Row>(rows: Row[], row: number): void {
  const last = rows.pop()
  if (last !== undefined && row < rows.length) rows[row] = last
}

/**
 * An upper bound of what can be said in the time: two words a second of Georgian are 36 tokens. A model that exceeds it
 * has lost the speech.
 */
function plausibleTokens(frames: number): number {
  return 32 + Math.ceil((frames / framesPerSecond) * 36)
}

/** A sentence up to this long is heard again with the speech that follows it. */
const sentenceFramesMax = 15 * framesPerSecond
/** Less than this is no progress. */
const progressMin = 0.5 * framesPerSecond

/**
 * A model that ends with two time tokens says that a sentence goes on after them. The rest is heard again together with
 * its sentence: of the rest alone, often a second or two, more words are wrong.
 */
function unfinishedAtEnd(
  tokens: readonly number[],
  frames: number,
  firstTimestamp: number,
): Unfinished | null {
  const rest = pairAt(tokens, tokens.length - 2, firstTimestamp)
  if (rest === null) return null
  const before = tokens.findLastIndex((id, index) => id >= firstTimestamp && index < tokens.length - 2)
  const sentence = before > 0 ? pairAt(tokens, before - 1, firstTimestamp) : null
  return sentence !== null && frames - sentence.frame <= sentenceFramesMax ? sentence : rest
}

/** Tokens after the last two time tokens belong to a sentence that the limit has cut. */
function unfinishedAtLimit(tokens: readonly number[], firstTimestamp: number): Unfinished | null {
  for (let index = tokens.length - 2; index > 0; index--) {
    const rest = pairAt(tokens, index, firstTimestamp)
    if (rest !== null) return rest
  }
  return null
}

/** Keeps the tokens up to the first of two time tokens, and goes on from the second. */
function pairAt(tokens: readonly number[], index: number, firstTimestamp: number): Unfinished | null {
  const [before = 0, after = 0] = tokens.slice(Math.max(0, index), index + 2)
  const frame = after - firstTimestamp
  return before >= firstTimestamp && frame >= progressMin ? { tokens: index + 1, frame } : null
}

type ExtendOptions = { rules: Rules; temperature: number; random: () => number; attention: boolean }

/** The next token of a row, or null when the row is done. */
function extend(attempt: Attempt, batch: Batch, row: number, options: ExtendOptions): number | null {
  const { hypothesis } = attempt
  const { tokens, logProbabilities, attention, frames } = hypothesis
  const { rules, temperature, random } = options
  const { token, logProbability } = choose(rules, batch.logits(row), hypothesis, temperature, random)
  if (options.attention) attention.push(batch.attention(row, frames))
  hypothesis.logProbability += logProbability
  if (token === rules.facts.end) {
    hypothesis.logProbability /= tokens.length + 1
    hypothesis.unfinished = unfinishedAtEnd(tokens, frames, rules.facts.firstTimestamp)
    return null
  }
  tokens.push(token)
  logProbabilities.push(logProbability)
  const round = loopStart(tokens)
  if (round === null && tokens.length < attempt.limit) return token
  if (round === null && attempt.limit === attempt.tokensMax)
    hypothesis.unfinished = unfinishedAtLimit(tokens, rules.facts.firstTimestamp)
  attempt.looped = hypothesis.unfinished === null
  hypothesis.logProbability /= tokens.length
  tokens.length = hypothesis.unfinished?.tokens ?? round ?? tokens.length - 1
  logProbabilities.length = tokens.length
  attention.length = Math.min(attention.length, tokens.length + 1)
  return null
}

function emptyHypothesis(frames: number, noSpeech: number, temperature: number): Hypothesis {
  return {
    tokens: [],
    logProbabilities: [],
    attention: [],
    frames,
    unfinished: null,
    noSpeech,
    logProbability: 0,
    temperature,
    verdict: 'doubtful',
  }
}

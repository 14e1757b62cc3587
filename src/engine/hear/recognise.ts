// Decodes a batch of windows. Each row is judged on its own. Only rows that fail are decoded again, at the next
// higher temperature.

import { framesPerSecond } from '../audio.ts'
import { guards, judge, loopStart } from './guard.ts'
import type { Batch, Decoder, EncodedWindow } from './network.ts'
import { choose, probabilityOf, type Rules, rulesOf } from './rules.ts'
import type { Whisper } from './whisper.ts'

/** The tokens that were decoded for a window. */
export type Hypothesis = {
  tokens: number[]
  /** The logarithm of the probability of each token. */
  logProbabilities: number[]
  /**
   * The attention of the step that predicts each token, then of the step that predicts the end; each is heads ×
   * frames. Empty when attention was not requested.
   */
  attention: Float32Array[]
  frames: number
  /** Null when the text covers the whole window. */
  unfinished: Unfinished | null
  noSpeech: number
  /** The mean of the log probabilities, including that of the end token. */
  logProbability: number
  temperature: number
  /** `doubtful` is the best of all attempts when all of them failed. */
  verdict: 'good' | 'silence' | 'doubtful'
}

/** The first `tokens` tokens are kept, and the window is decoded again from `frame`. */
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
  /** The prompt of all attempts except the first one: the caller's context may have misled the model. */
  promptAgain: readonly number[]
  timestamps: boolean
  attention: boolean
  random: () => number
  /** Called at each step with the share of rows that are done. */
  onShare: (share: number) => Promise<void>
}

/** The maximum of tokens for a window. If a script needs many tokens per letter, speech can continue after them. */
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

/**
 * Returns the better of two attempts: one that passed or, if both failed, the more probable text. A loop is already
 * reduced to its first occurrence.
 */
function better(before: Hypothesis, now: Hypothesis): Hypothesis {
  if (now.verdict !== 'doubtful') return now
  if (now.tokens.length === 0) return before
  return before.tokens.length === 0 || now.logProbability > before.logProbability ? now : before
}

type Attempt = {
  task: Task
  hypothesis: Hypothesis
  looped: boolean
  /** `tokensMax` is the limit of the model; `limit` is lower when the speech is too short for so many tokens. */
  tokensMax: number
  limit: number
}

async function decodeRows(
  tasks: readonly Task[],
  temperature: number,
  { whisper, decoder, timestamps, attention, random, onShare, ...prompts }: RecogniseOptions,
): Promise<Attempt[]> {
  const { facts } = whisper
  const prompt = temperature === 0 ? prompts.prompt : prompts.promptAgain
  const rules = rulesOf(facts, timestamps)
  const batch = decoder.begin(
    tasks.map(({ window }) => window),
    prompt,
  )
  const startAt = prompt.indexOf(facts.start)
  const tokensMax = Math.min(windowTokens, facts.positions - prompt.length - 1)
  const attempts = tasks.map((task, index): Attempt => {
    const { frames } = task.row
    const noSpeech = facts.noSpeech === null ? 0 : probabilityOf(batch.logits(index, startAt), facts.noSpeech)
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
 * Returns an upper bound of the tokens that speech of this length can have: two words a second in Georgian are 36
 * tokens. More tokens mean that the model does not follow the speech.
 */
function plausibleTokens(frames: number): number {
  return 32 + Math.ceil((frames / framesPerSecond) * 36)
}

/** The maximum length of a sentence that is decoded again together with the speech after it. */
const sentenceFramesMax = 15 * framesPerSecond
/** The smallest advance of a continuation. After a smaller one, almost the same window would be decoded again. */
const progressMin = 0.5 * framesPerSecond

/**
 * Returns where to continue when the model ends with two time tokens, which mean that speech continues. The last
 * sentence and its continuation are decoded again together: a continuation alone, often a second or two, has more
 * word errors.
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

/**
 * Returns where to continue after the limit of tokens: tokens after the last two time tokens belong to an incomplete
 * sentence.
 */
function unfinishedAtLimit(tokens: readonly number[], firstTimestamp: number): Unfinished | null {
  for (let index = tokens.length - 2; index > 0; index--) {
    const rest = pairAt(tokens, index, firstTimestamp)
    if (rest !== null) return rest
  }
  return null
}

/** Returns the continuation at a pair of time tokens: keeps the tokens up to the first, and continues at the second. */
function pairAt(tokens: readonly number[], index: number, firstTimestamp: number): Unfinished | null {
  const [before = 0, after = 0] = tokens.slice(Math.max(0, index), index + 2)
  const frame = after - firstTimestamp
  return before >= firstTimestamp && frame >= progressMin ? { tokens: index + 1, frame } : null
}

type ExtendOptions = { rules: Rules; temperature: number; random: () => number; attention: boolean }

/** Chooses the next token of a row. Returns null when the row is done. */
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

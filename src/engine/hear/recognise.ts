// Decodes a batch of windows. Each text is checked on its own. A window whose text fails the check is decoded again,
// at the next higher temperature.

import { framesPerSecond } from '../audio.ts'
import { guards, judge, loopStart } from './guard.ts'
import type { Batch, Decoder, EncodedWindow } from './network.ts'
import { choose, probabilityOf, type Rules, rulesOf } from './rules.ts'
import type { Whisper } from './whisper.ts'

/** The result of decoding one window: its tokens, with their probabilities and attention. */
export type Hypothesis = {
  tokens: number[]
  /** The logarithm of the probability of each token. */
  logProbabilities: number[]
  /**
   * One attention array per token, from the decoding pass that predicts this token, and a last array for the end of
   * the text. Each array is heads × frames. The list is empty if attention was not requested.
   */
  attention: Float32Array[]
  frames: number
  /** The speech that must be decoded again. Null when the text covers the whole window. */
  unfinished: Unfinished | null
  noSpeech: number
  /** The mean of the log probabilities of all tokens, including the end token. */
  logProbability: number
  temperature: number
  /**
   * `good`: the text passed the checks. `silence`: the window has no speech. `doubtful`: the texts of all attempts
   * failed the checks, and this is the best one.
   */
  verdict: 'good' | 'silence' | 'doubtful'
}

/**
 * The part of a window that is decoded again. The first `tokens` tokens of the text are kept, and decoding starts
 * again at model frame `frame`.
 */
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
  /**
   * The prompt of all attempts except the first one. It is without the caller's context, because the context may have
   * caused the errors of the first attempt.
   */
  promptAgain: readonly number[]
  timestamps: boolean
  attention: boolean
  random: () => number
  /**
   * Called after each decoding step of the batch. `share` is the share of windows whose text is complete, from 0 to
   * 1.
   */
  onShare: (share: number) => Promise<void>
}

/**
 * The maximum number of tokens for a window. Some scripts need several tokens per letter. Speech after the last of
 * these tokens is decoded in a further window.
 */
const windowTokens = 224

/** A window, with the facts about its sound and its best hypothesis so far. */
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
 * Returns the better of two attempts. An attempt that passed the checks is better than an attempt that failed. If both
 * attempts failed, the more probable text is better. In both texts, a loop is already reduced to its first occurrence.
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
  /**
   * `tokensMax` is the maximum number of tokens that the model can return. `limit` is the maximum for this attempt;
   * it is lower if the speech is short.
   */
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
    temperature === 0 ? { rules, frames: tasks.map(({ row }) => row.frames) } : undefined,
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

/**
 * Removes an element of `rows` and moves the last element to its place. `Batch.drop` moves the rows of the batch in
 * the same way.
 */
function drop<Row>(rows: Row[], row: number): void {
  const last = rows.pop()
  if (last !== undefined && row < rows.length) rows[row] = last
}

/**
 * Returns an upper bound of the number of tokens in speech of this length, in model frames. The bound is 36 tokens
 * per second, and 32 more: in Georgian, two words are about 36 tokens. A text with more tokens is not the text of the
 * speech.
 */
function plausibleTokens(frames: number): number {
  return 32 + Math.ceil((frames / framesPerSecond) * 36)
}

/**
 * The maximum length, in model frames, of speech at the end of a window that is decoded again together with its last
 * sentence.
 */
const sentenceFramesMax = 15 * framesPerSecond
/**
 * The minimum distance, in model frames, from the start of a window to the speech that is decoded again. With a
 * smaller distance, almost the same window would be decoded again.
 */
const progressMin = 0.5 * framesPerSecond

/**
 * Returns the speech that is decoded again after a complete text. Two time tokens at the end of the text mean that
 * more speech follows the last sentence. This speech is often only a second or two long, and alone it would be
 * decoded with more errors. So it is decoded again together with the last sentence. Returns null if the text covers
 * the whole window.
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
 * Returns the speech that is decoded again after the maximum number of tokens. It begins at the last two adjacent
 * time tokens: the tokens after these two belong to an incomplete sentence. Returns null if no two time tokens are
 * adjacent.
 */
function unfinishedAtLimit(tokens: readonly number[], firstTimestamp: number): Unfinished | null {
  for (let index = tokens.length - 2; index > 0; index--) {
    const rest = pairAt(tokens, index, firstTimestamp)
    if (rest !== null) return rest
  }
  return null
}

/**
 * Returns the place to continue at two adjacent time tokens, at `index` and `index + 1`. The tokens up to the first
 * one are kept. Decoding continues at the time of the second one. Returns null if one of the two is not a time token,
 * or if the second time is less than `progressMin`.
 */
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
  const { token, logProbability } =
    batch.pick?.(row) ?? choose(rules, batch.logits(row), hypothesis, temperature, random)
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

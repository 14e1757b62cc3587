// Decodes a batch of windows and checks the text of each window. If a text fails the check, its window is decoded again
// with the next higher temperature.

import { framesPerSecond } from '../audio.ts'
import { guards, judge } from './guard.ts'
import { loopStart } from './loop.ts'
import type { Batch, Decoder, EncodedWindow } from './network.ts'
import { choose, probabilityOf, type Rules, rulesOf } from './rules.ts'
import type { Whisper } from './whisper.ts'

/** The result of one attempt to decode a window: the tokens, with their probabilities and their cross-attention. */
export type Hypothesis = {
  tokens: number[]
  /** The logarithm of the probability of each token. */
  logProbabilities: number[]
  /**
   * The cross-attention arrays, one for each decoding pass. Each pass predicts one token, and the last pass predicts the
   * end of the text. So there is one array more than there are tokens. Each array is heads × frames. The list is empty
   * if attention was not requested.
   */
  attention: Float32Array[]
  frames: number
  /** The part of the window that must be decoded again. Null if no part of the window must be decoded again. */
  unfinished: Unfinished | null
  noSpeech: number
  /** The mean log probability of the tokens, including the end token. */
  logProbability: number
  temperature: number
  /**
   * `good`: the text passed the checks. `silence`: the window has no speech. `doubtful`: all attempts to decode the
   * window failed the checks. In this case, the text is the best of these attempts.
   */
  verdict: 'good' | 'silence' | 'doubtful'
}

/**
 * The part of a window that must be decoded again. This part begins at model frame `frame`. The first `tokens` tokens
 * of the text, which belong to the speech before this frame, are kept.
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
   * The prompt of all attempts after the first one. This prompt does not contain the caller's context, because the
   * context may have caused the errors of the first attempt.
   */
  promptAgain: readonly number[]
  timestamps: boolean
  attention: boolean
  random: () => number
  /**
   * Called before each decoding step of the batch. `share` is the number of windows whose text is complete, divided by
   * the number of all windows (0 to 1).
   */
  onShare: (share: number) => Promise<void>
}

/**
 * The maximum number of tokens that are decoded for a window. In some scripts, a letter is several tokens, so the whole
 * text of a window may need more tokens. Decoding then stops at this maximum, and the speech that follows the last
 * complete sentence is decoded in a further window.
 */
const windowTokens = 224

/** A window that is being decoded. `row` describes its sound. `best` is the best decoded text so far. */
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
 * Returns the better one of two attempts to decode a window. An attempt that passed the checks is better than an
 * attempt that failed. If both attempts failed, the more probable text is better. A failed text is usable even if it
 * ended in a loop, because the repetitions were removed from it.
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
   * `tokensMax` is the maximum number of tokens in the text of a window. `limit` is the maximum number in this attempt.
   * `limit` is lower than `tokensMax` if the speech is short.
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
 * Removes an element of the list and moves the last element of the list to the free place. `Batch.drop` does the same
 * with the rows of the batch.
 */
function drop<Row>(rows: Row[], row: number): void {
  const last = rows.pop()
  if (last !== undefined && row < rows.length) rows[row] = last
}

/**
 * Returns the maximum number of tokens that a text of correct length can have for `frames` model frames of speech: 36
 * tokens per second, and 32 more. This is enough for Georgian, in which two words are about 36 tokens. If a text has
 * more tokens, the model has not written what was said.
 */
function plausibleTokens(frames: number): number {
  return 32 + Math.ceil((frames / framesPerSecond) * 36)
}

/**
 * The maximum length, in model frames, from the start of the last sentence to the end of the window. If this part of the
 * window is longer, the last sentence is not decoded again together with the speech after it.
 */
const sentenceFramesMax = 15 * framesPerSecond
/**
 * The minimum distance, in model frames, from the start of a window to the part that is decoded again. With a smaller
 * distance, the second decoding would read almost the same window and might never end.
 */
const progressMin = 0.5 * framesPerSecond

/**
 * Called when the text of a window ends with the end token. Returns the part of the window that must be decoded again,
 * or null if there is no such part. Two time tokens at the end of the text mean that more speech follows the last
 * sentence. This speech is short. In a window of its own, this speech would have more errors, so it is decoded together
 * with the last sentence. If the text after the last two time tokens is improbable, this part is decoded again.
 */
function unfinishedAtEnd(
  { tokens, logProbabilities, frames }: Hypothesis,
  firstTimestamp: number,
): Unfinished | null {
  const rest = pairAt(tokens, tokens.length - 2, firstTimestamp)
  if (rest === null) {
    const last = unfinishedAtLimit(tokens, firstTimestamp)
    return last && meanOf(logProbabilities.slice(last.tokens)) < guards.logProbabilityMin ? last : null
  }
  const before = tokens.findLastIndex((id, index) => id >= firstTimestamp && index < tokens.length - 2)
  const sentence = before > 0 ? pairAt(tokens, before - 1, firstTimestamp) : null
  return sentence !== null && frames - sentence.frame <= sentenceFramesMax ? sentence : rest
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/**
 * Called when the text of a window has reached the maximum number of tokens. Returns the part of the window that must
 * be decoded again. This part begins at the last two adjacent time tokens, because the tokens after these two belong to
 * an incomplete sentence. Returns null if the text has no two adjacent time tokens.
 */
function unfinishedAtLimit(tokens: readonly number[], firstTimestamp: number): Unfinished | null {
  for (let index = tokens.length - 2; index > 0; index--) {
    const rest = pairAt(tokens, index, firstTimestamp)
    if (rest !== null) return rest
  }
  return null
}

/**
 * Checks if the tokens at `index` and `index + 1` are two adjacent time tokens. If so, returns the part of the window
 * that begins at the time of the second time token; the tokens up to the first time token of this pair are kept.
 * Otherwise returns null. Also returns null if the time of the second time token is less than `progressMin`.
 */
function pairAt(tokens: readonly number[], index: number, firstTimestamp: number): Unfinished | null {
  const [before = 0, after = 0] = tokens.slice(Math.max(0, index), index + 2)
  const frame = after - firstTimestamp
  return before >= firstTimestamp && frame >= progressMin ? { tokens: index + 1, frame } : null
}

type ExtendOptions = { rules: Rules; temperature: number; random: () => number; attention: boolean }

/** Chooses the next token of a row and adds it to the text of this row. Returns null if the text is complete. */
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
    hypothesis.unfinished = unfinishedAtEnd(hypothesis, rules.facts.firstTimestamp)
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

// Decodes a batch of windows (at most 30 s of sound each) once, token by token. All windows have the same temperature:
// at 0, the most probable token is chosen, and at a higher temperature a random one.

import { framesPerSecond } from '../audio.ts'
import { type Rules, rulesOf } from './allowed.ts'
import { emptyHypothesis, type Hypothesis } from './hypothesis.ts'
import { loopStart } from './loop.ts'
import type { Batch, Decoder, EncodedWindow } from './network.ts'
import { choose } from './rules.ts'
import { probabilityOf } from './scores.ts'
import { unfinishedAtEnd, unfinishedAtLimit } from './unfinished.ts'
import type { Whisper } from './whisper.ts'

/**
 * A window to decode. `frames` is the length of its sound with pauses, in model frames (20 ms each). `speechSeconds` is
 * the length of its speech without pauses.
 */
export type Row = {
  frames: number
  speechSeconds: number
  /**
   * Decoding ends at the first timestamp token at or after this frame. The speech after this frame was added because
   * the model then makes fewer errors. The text of the added speech is not needed.
   */
  neededFrames?: number
}

export type RecogniseOptions = {
  whisper: Whisper
  decoder: Decoder
  prompt: readonly number[]
  /**
   * The prompt for each later attempt to decode the same window. It does not contain the caller's context, which may
   * have caused the errors of the first attempt.
   */
  promptAgain: readonly number[]
  timestamps: boolean
  attention: boolean
  /** Called before each decoding step with the share of the windows whose text is complete (0 to 1). */
  onShare: (share: number) => Promise<void>
}

/**
 * The maximum number of tokens for a window. A longer text is cut off, and the speech after its last complete sentence
 * is usually decoded in another window. Such long texts occur in scripts in which one letter consists of several
 * tokens.
 */
const windowTokens = 224

/**
 * A window that is being decoded. `best` is the best decoded text so far. `random` returns the random numbers for this
 * window, from 0 to 1.
 */
export type Task = { row: Row; window: EncodedWindow; best: Hypothesis; random: () => number }

export type Attempt = {
  task: Task
  hypothesis: Hypothesis
  /**
   * True if the decoding was stopped because the text is probably wrong: it repeats itself (a loop), or it has reached
   * `limit` tokens. There is one exception: a text without a loop that has reached `tokensMax` tokens, the limit of
   * windows with much sound. Such a text may be right, but is cut off. If it has a complete sentence, `looped` is
   * false, and only the speech after its last complete sentence is decoded again (see `hypothesis.unfinished`).
   */
  looped: boolean
  /**
   * `tokensMax` is the maximum number of tokens for any window. `limit` is the maximum for this window, which is lower
   * if the window has little sound.
   */
  tokensMax: number
  limit: number
}

export async function decodeRows(
  tasks: readonly Task[],
  temperature: number,
  { whisper, decoder, timestamps, attention, onShare, ...prompts }: RecogniseOptions,
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
  try {
    const attempts = tasks.map((task, index): Attempt => {
      const { frames } = task.row
      const noSpeech =
        facts.noSpeech === null ? 0 : probabilityOf(batch.logits(index, startAt), facts.noSpeech)
      const hypothesis = emptyHypothesis(frames, noSpeech, temperature)
      const limits = { tokensMax, limit: Math.min(tokensMax, plausibleTokens(frames)) }
      return { task, hypothesis, looped: false, ...limits }
    })
    const live = [...attempts]
    while (live.length > 0) {
      await onShare(1 - live.length / tasks.length)
      const next = live.map((attempt, row) => extend(attempt, batch, row, { rules, temperature, attention }))
      for (let row = live.length - 1; row >= 0; row--) {
        if (next[row] !== null) continue
        batch.drop(row)
        drop(live, row)
        drop(next, row)
      }
      if (live.length > 0) batch.step(next.filter(token => token !== null))
    }
    return attempts
  } finally {
    batch.close()
  }
}

/** Removes an element and moves the last element to its place, as `Batch.drop` does with rows. */
function drop<Row>(rows: Row[], row: number): void {
  const last = rows.pop()
  if (last !== undefined && row < rows.length) rows[row] = last
}

/**
 * Returns the maximum number of tokens of a correct text for `frames` frames of 20 ms: 36 tokens per second, and 32
 * more, which matter only for very short sound. The limit follows Georgian, which needs the most tokens: about 18 for a
 * word, at two words per second.
 */
function plausibleTokens(frames: number): number {
  return 32 + Math.ceil((frames / framesPerSecond) * 36)
}

type ExtendOptions = { rules: Rules; temperature: number; attention: boolean }

/**
 * Chooses the next token of a window, and adds the token to the text, unless it is the end token. `row` is the index of
 * the window in the batch. Returns the token, or null if the decoding of this window has ended.
 */
function extend(attempt: Attempt, batch: Batch, row: number, options: ExtendOptions): number | null {
  const { hypothesis, task } = attempt
  const { tokens, logProbabilities, attention, frames } = hypothesis
  const { rules, temperature } = options
  const { token, logProbability } =
    batch.pick?.(row) ??
    choose(rules, batch.logits(row), hypothesis, {
      temperature,
      random: task.random,
      logTotal: batch.logTotal?.(row) ?? null,
    })
  if (options.attention) attention.push(batch.attention(row, frames))
  hypothesis.logProbability += logProbability
  if (token === rules.facts.end) {
    hypothesis.logProbability /= tokens.length + 1
    hypothesis.unfinished = unfinishedAtEnd(hypothesis, rules.facts.firstTimestamp)
    return null
  }
  tokens.push(token)
  logProbabilities.push(logProbability)
  if (token >= rules.facts.firstTimestamp + (task.row.neededFrames ?? Number.POSITIVE_INFINITY)) {
    endAtTime(hypothesis, rules.facts.firstTimestamp)
    return null
  }
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

/**
 * Ends a text before the model has returned the end token. Called at the first timestamp token whose time is at or
 * after the frame with the number `neededFrames` (see `Row`). The speech after this frame was added only so that the
 * model makes fewer errors, so the text of the added speech is not needed. If this timestamp token is the start of a
 * new segment, it is removed, because the segment has no text.
 */
function endAtTime(hypothesis: Hypothesis, firstTimestamp: number): void {
  const { tokens, logProbabilities } = hypothesis
  hypothesis.logProbability /= tokens.length
  const before = tokens.at(-2)
  if (before !== undefined && before < firstTimestamp) return
  tokens.pop()
  logProbabilities.pop()
}

// Decodes a batch of windows once, token by token, at one temperature.

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
 * A window to decode. `frames` is the length of its sound, in frames of the speech model (20 ms each). The sound
 * includes the pauses between the speech spans. `speechSeconds` is the length of the speech spans alone, in seconds.
 */
export type Row = {
  frames: number
  speechSeconds: number
  /**
   * If given, decoding ends at the first timestamp token at or after this frame of the window. The speech after this
   * frame was added only because the model makes fewer errors if more speech follows. The text of this added speech is
   * not needed.
   */
  neededFrames?: number
}

export type RecogniseOptions = {
  whisper: Whisper
  decoder: Decoder
  prompt: readonly number[]
  /**
   * The prompt for the second and each later attempt to decode the same window. This prompt does not contain the
   * caller's context, because the context may have caused the errors of the first attempt.
   */
  promptAgain: readonly number[]
  timestamps: boolean
  attention: boolean
  /** Called before each decoding step. `share` is the share of the windows whose text is complete (0 to 1). */
  onShare: (share: number) => Promise<void>
}

/**
 * The maximum number of tokens for a window. A longer text is cut off. If this text has a complete sentence, the
 * speech after its last complete sentence is decoded in another window. Such long texts occur in scripts in which one
 * letter consists of several tokens.
 */
const windowTokens = 224

/**
 * A window that is being decoded. `row` contains the lengths of the sound and of the speech in this window. `best` is
 * the best decoded text so far. `random` returns the random numbers, from 0 to 1, for this window.
 */
export type Task = { row: Row; window: EncodedWindow; best: Hypothesis; random: () => number }

export type Attempt = {
  task: Task
  hypothesis: Hypothesis
  /**
   * True if decoding was ended because of a loop, or because the text has `limit` tokens. But false if only the last
   * part of the window is decoded again (see `unfinishedAtLimit`).
   */
  looped: boolean
  /**
   * `tokensMax` is the maximum number of tokens in the text of a window. `limit` is the maximum in this attempt. It is
   * lower than `tokensMax` if the window has little sound.
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

/** Removes an element and moves the last element to its place, as `Batch.drop` does with the rows of the batch. */
function drop<Row>(rows: Row[], row: number): void {
  const last = rows.pop()
  if (last !== undefined && row < rows.length) rows[row] = last
}

/**
 * Returns the maximum number of tokens of a correct text for `frames` frames of sound, of 20 ms each: 36 tokens per
 * second, plus 32. The 32 tokens matter only for very short sound. A word of Georgian has about 18 tokens, so the
 * maximum allows two Georgian words per second.
 */
function plausibleTokens(frames: number): number {
  return 32 + Math.ceil((frames / framesPerSecond) * 36)
}

type ExtendOptions = { rules: Rules; temperature: number; attention: boolean }

/**
 * Chooses the next token of one window, whose number in the batch is `row`, and adds the token to the text of this
 * window. Returns the token, or null if the decoding of this window has ended.
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
 * Ends a text before the model returns the end token. Called when the last token of the text is a timestamp token at or
 * after the frame `neededFrames`. The text of the speech after this frame is not needed. If the timestamp token begins
 * a segment (the text between two timestamp tokens), the token is removed, because the segment has no text.
 */
function endAtTime(hypothesis: Hypothesis, firstTimestamp: number): void {
  const { tokens, logProbabilities } = hypothesis
  hypothesis.logProbability /= tokens.length
  const before = tokens.at(-2)
  if (before !== undefined && before < firstTimestamp) return
  tokens.pop()
  logProbabilities.pop()
}

// Decoding of a batch of windows. Each row is judged on its own, and only rows that fail are decoded again, at the
// next higher temperature.

import { framesPerSecond } from '../audio.ts'
import type { Batch, Decoder } from './decoder.ts'
import { guards, judge, loopStart } from './guard.ts'
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
  noSpeech: number
  /** Mean over the tokens and the end. */
  logProbability: number
  temperature: number
  /** `doubtful` is the best of all attempts when each of them failed. */
  verdict: 'good' | 'silence' | 'doubtful'
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

const tokensMax = 224

/** A row with its index among the encoder's states, and its best hypothesis so far. */
type Task = { row: Row; index: number; best: Hypothesis }

export async function recognise(
  states: Float32Array,
  rows: readonly Row[],
  options: RecogniseOptions,
): Promise<Hypothesis[]> {
  const tasks = rows.map((row, index): Task => ({ row, index, best: emptyHypothesis(row.frames, 0, 0) }))
  let open = tasks
  for (const temperature of guards.temperatures) {
    const size = states.length / rows.length
    const attempts = await decodeRows(statesOf(open, states, size), open, temperature, options)
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

function statesOf(tasks: readonly Task[], states: Float32Array, size: number): Float32Array {
  if (tasks.length * size === states.length) return states
  const some = new Float32Array(tasks.length * size)
  for (const [row, { index }] of tasks.entries())
    some.set(states.subarray(index * size, (index + 1) * size), row * size)
  return some
}

type Attempt = { task: Task; hypothesis: Hypothesis; looped: boolean; limit: number }

async function decodeRows(
  states: Float32Array,
  tasks: readonly Task[],
  temperature: number,
  { whisper, decoder, prompt, timestamps, attention, random, onShare }: RecogniseOptions,
): Promise<Attempt[]> {
  const { facts } = whisper
  const rules = rulesOf(facts, timestamps)
  const batch = decoder.begin(states, tasks.length, prompt)
  const attempts = tasks.map((task, index): Attempt => {
    const { frames } = task.row
    const noSpeech = facts.noSpeech === null ? 0 : probabilityOf(batch.logits(index, 0), facts.noSpeech)
    const hypothesis = emptyHypothesis(frames, noSpeech, temperature)
    const limit = Math.min(tokensMax, facts.positions - prompt.length - 1, plausibleTokens(frames))
    return { task, hypothesis, looped: false, limit }
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

/** An upper bound of what can be said in the time. A model that exceeds it has lost the speech. */
function plausibleTokens(frames: number): number {
  return 32 + Math.ceil((frames / framesPerSecond) * 24)
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
    return null
  }
  tokens.push(token)
  logProbabilities.push(logProbability)
  const kept = loopStart(tokens)
  if (kept === null && tokens.length < attempt.limit) return token
  attempt.looped = true
  hypothesis.logProbability /= tokens.length
  tokens.length = kept ?? tokens.length - 1
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
    noSpeech,
    logProbability: 0,
    temperature,
    verdict: 'doubtful',
  }
}

// Windows of sound to tokens: encode each, decode them together, judge each row on its own and try again only
// those that failed, a little warmer each time.

import { framesPerSecond } from '../audio.ts'
import type { Batch, Decoder } from './decoder.ts'
import { guards, judge, loopStart } from './guard.ts'
import { choose, probabilityOf, rulesOf } from './rules.ts'
import type { Whisper } from './whisper.ts'

export type Spoken = {
  tokens: number[]
  /** Of each token. */
  logProbabilities: number[]
  /** Where each token was read from, heads × frames each; the last one is that of the end of text. Empty when not asked for. */
  attention: Float32Array[]
  frames: number
  noSpeech: number
  /** Mean over the tokens and the end. */
  logProbability: number
  temperature: number
  /** Believed or, after all tries, the best there was. */
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

export async function recognise(
  states: Float32Array,
  rows: readonly Row[],
  options: RecogniseOptions,
): Promise<Spoken[]> {
  const best: (Spoken | null)[] = rows.map(() => null)
  let open = rows.map((_, index) => index)
  for (const temperature of guards.temperatures) {
    const tried = await decodeRows(
      gather(states, rows.length, open),
      open.map(index => rows[index]!),
      temperature,
      options,
    )
    const again: number[] = []
    for (const [place, index] of open.entries()) {
      const { spoken, looped } = tried[place]!
      const text = options.whisper.tokenizer.decode(spoken.tokens)
      const verdict = judge({ ...spoken, looped, text, speechSeconds: rows[index]!.speechSeconds })
      if (verdict === 'again') again.push(index)
      else spoken.verdict = verdict
      best[index] = better(best[index]!, spoken)
    }
    open = again
    if (open.length === 0) break
  }
  return best as Spoken[]
}

/** What is believed wins; otherwise what the model found likelier. A loop has been cut to its first round. */
function better(before: Spoken | null, now: Spoken): Spoken {
  if (!before || now.verdict !== 'doubtful') return now
  if (now.tokens.length === 0) return before
  return before.tokens.length === 0 || now.logProbability > before.logProbability ? now : before
}

function gather(states: Float32Array, rows: number, wanted: readonly number[]): Float32Array {
  if (wanted.length === rows) return states
  const size = states.length / rows
  const some = new Float32Array(wanted.length * size)
  for (const [place, index] of wanted.entries())
    some.set(states.subarray(index * size, (index + 1) * size), place * size)
  return some
}

type Attempt = { spoken: Spoken; looped: boolean }

async function decodeRows(
  states: Float32Array,
  rows: readonly Row[],
  temperature: number,
  { whisper, decoder, prompt, timestamps, attention, random, onShare }: RecogniseOptions,
): Promise<Attempt[]> {
  const { facts } = whisper
  const rules = rulesOf(facts, timestamps)
  const batch = decoder.begin(states, rows.length, prompt)
  const attempts = rows.map((row, index): Attempt => {
    const noSpeech = facts.noSpeech === null ? 0 : probabilityOf(batch.logits(index, 0), facts.noSpeech)
    return { spoken: unspoken(row.frames, noSpeech, temperature), looped: false }
  })
  try {
    const live = rows.map((_, index) => index)
    while (live.length > 0) {
      await onShare(1 - live.length / rows.length)
      const next = live.map((index, row) => {
        const attempt = attempts[index]!
        const limit = Math.min(tokensMax, facts.positions - prompt.length - 1, tokensFor(rows[index]!))
        return extend(attempt, batch, row, { rules, temperature, random, attention, limit, end: facts.end })
      })
      for (let row = live.length - 1; row >= 0; row--) {
        if (next[row] !== null) continue
        batch.drop(row)
        const last = live.length - 1
        live[row] = live[last]!
        next[row] = next[last]!
        live.pop()
        next.pop()
      }
      if (live.length > 0) batch.step(next as number[])
    }
  } finally {
    batch.close()
  }
  return attempts
}

/** Nobody says more than this; a model that does is lost. */
function tokensFor({ frames }: Row): number {
  return 32 + Math.ceil((frames / framesPerSecond) * 24)
}

type Extend = {
  rules: ReturnType<typeof rulesOf>
  temperature: number
  random: () => number
  attention: boolean
  limit: number
  end: number
}

/** The next token of a row, or null when the row is done. */
function extend(attempt: Attempt, batch: Batch, row: number, options: Extend): number | null {
  const { spoken } = attempt
  const { tokens, logProbabilities, attention, frames } = spoken
  const { rules, temperature, random, limit, end } = options
  const { token, logProbability } = choose(rules, batch.logits(row), spoken, temperature, random)
  if (options.attention) attention.push(batch.attention(row, frames))
  spoken.logProbability += logProbability
  if (token === end) {
    spoken.logProbability /= tokens.length + 1
    return null
  }
  tokens.push(token)
  logProbabilities.push(logProbability)
  const kept = loopStart(tokens)
  if (kept === null && tokens.length < limit) return token
  attempt.looped = true
  spoken.logProbability /= tokens.length
  tokens.length = kept ?? tokens.length - 1
  logProbabilities.length = tokens.length
  attention.length = Math.min(attention.length, tokens.length + 1)
  return null
}

function unspoken(frames: number, noSpeech: number, temperature: number): Spoken {
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

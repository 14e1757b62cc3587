// One batch of windows that a GPU decodes. Each window is a row of the batch, and each decoding step is one run of the
// decoder. If the GPU also chooses the tokens, CUDA records the calls of a step as a CUDA graph, one graph for each
// number of rows. The number of rows is always a power of two, so few graphs are needed. A row without a window is
// idle.

import { allowedInput } from '../network/pick.ts'
import { allowedAfter } from './allowed.ts'
import type { DeviceCaches, DeviceParts } from './device-caches.ts'
import type { DecoderRun, RunShape } from './device-run.ts'
import type { Batch, Greedy } from './network.ts'
import type { NextToken } from './rules.ts'

export function powerOfTwo(least: number): number {
  return 2 ** Math.ceil(Math.log2(least))
}

export type Runs = {
  /** Prepares a run of the decoder that is used only once. The caller must close this run. */
  once(shape: Omit<RunShape, 'record'>): DecoderRun
  step(rows: number, withScores: boolean): DecoderRun
  end(): void
}

/** A window that is being decoded. `slot` is the number of its row in the key-value caches on the GPU. */
type Row = {
  slot: number
  /** The length of the sound in the window, in model frames of 20 ms. 0 (not needed) if the CPU chooses the tokens. */
  frames: number
  tokens: number[]
  /**
   * The arrays that the method `attention` returned for this window. The key is the number of the decoding step. The
   * arrays contain zeros until the window is removed from the batch. At its removal, the attention is copied from the
   * GPU into these arrays.
   */
  asked: Map<number, Float32Array>
}

type Start = { rows: number; prompt: readonly number[]; greedy: Greedy | null }

export class DeviceBatch implements Batch {
  private readonly live: Row[]
  /** The number of rows in each run of the decoder, including idle rows without a window. */
  private size: number
  /**
   * The number of tokens in each row of the key-value cache. This cache holds the decoder's keys and values for the
   * tokens so far.
   */
  private length = 0
  /** The number of decoding steps after the run of the prompt. */
  private steps = 0
  private readonly greedy: Greedy | null
  /** The run of the decoder for the prompt. Null after the first decoding step. */
  private prompt: DecoderRun | null
  private last: DecoderRun

  constructor(
    private readonly parts: DeviceParts,
    private readonly caches: DeviceCaches,
    private readonly runs: Runs,
    { rows, prompt, greedy }: Start,
  ) {
    this.greedy = greedy
    this.live = Array.from({ length: rows }, (_, slot) => ({
      slot,
      frames: greedy?.frames[slot] ?? 0,
      tokens: [],
      asked: new Map(),
    }))
    this.size = powerOfTwo(rows)
    // Scores are computed at two tokens of the prompt only. The scores at the start token show whether the window
    // contains speech. The scores at the last token predict the first token of the text.
    const start = Math.max(0, prompt.indexOf(parts.facts.start))
    const wanted = [...new Set([start, prompt.length - 1])]
    this.prompt = runs.once({ rows: this.size, length: prompt.length, wanted, withScores: true })
    this.last = this.prompt
    this.feed(() => prompt)
  }

  get rows(): number {
    return this.live.length
  }

  logits(row: number, position = this.last.shape.length - 1): Float32Array {
    const { wanted, withScores } = this.last.shape
    const index = wanted.indexOf(position)
    if (!withScores || index === -1) throw new RangeError(`the scores of token ${position} were not computed`)
    const { vocabulary } = this.parts.facts
    const from = (this.rowAt(row).slot * wanted.length + index) * vocabulary
    return this.last.scores.subarray(from, from + vocabulary)
  }

  pick(row: number): NextToken | null {
    if (this.last.shape.withScores) return null
    const at = 2 * this.rowAt(row).slot
    const [token = 0, logProbability = 0] = this.last.picked.subarray(at, at + 2)
    return { token, logProbability }
  }

  attention(row: number, frames: number): Float32Array {
    const attention = new Float32Array(this.parts.size.alignmentHeads.length * frames)
    this.rowAt(row).asked.set(this.steps, attention)
    return attention
  }

  step(tokens: readonly number[]): void {
    if (tokens.length !== this.rows) throw new RangeError(`a token for each of ${this.rows} rows is needed`)
    this.shrink()
    this.prompt?.close()
    this.prompt = null
    this.last = this.runs.step(this.size, this.greedy === null)
    this.steps++
    for (const [index, row] of this.live.entries()) row.tokens.push(tokens[index] ?? 0)
    this.feed(row => row.tokens.slice(-1))
  }

  drop(row: number): void {
    const dropped = this.rowAt(row)
    this.readAttention(dropped)
    const last = this.live.pop()
    if (last !== undefined && last !== dropped) this.live[row] = last
  }

  close(): void {
    this.prompt?.close()
    this.prompt = null
    this.runs.end()
  }

  private rowAt(index: number): Row {
    const row = this.live[index]
    if (!row) throw new RangeError(`the batch has no row ${index}`)
    return row
  }

  /**
   * Runs the decoder once, which adds tokens to each row of the batch. An idle row has no window, and gets tokens with
   * the id 0.
   */
  private feed(tokensOf: (row: Row) => readonly number[]): void {
    const { length } = this.last.shape
    const all = <Value>(value: Value) => Array.from({ length: this.size }, () => value)
    const positions = Array.from({ length }, (_, index) => this.length + index)
    const tokens = all(positions.map(() => 0))
    for (const row of this.live) {
      tokens[row.slot] = [...tokensOf(row)]
      this.last.allowed.set(this.allowedIn(row), 4 * row.slot)
    }
    this.last.run({
      tokens: tokens.flat(),
      positions: all(positions).flat(),
      starts: all(this.length),
      lengths: all(this.length + length),
      seen: all(this.steps),
    })
    this.length += length
  }

  /**
   * Returns the graph's input `allowed` for one row (window): four numbers that describe which tokens may come next
   * (see `allowedInput`). Without `greedy`, the graph need not choose tokens. The numbers then have no meaning, and all
   * four are 0.
   */
  private allowedIn({ tokens, frames }: Row): number[] {
    if (!this.greedy) return [0, 0, 0, 0]
    const { firstTimestamp } = this.parts.facts
    return allowedInput(allowedAfter({ tokens, frames }, this.greedy.rules), firstTimestamp)
  }

  /**
   * Makes the next run smaller if enough windows have left the batch. The size of a run is the smallest power of two
   * that is at least the number of windows. A run reads only the first `size` rows of the caches, so windows in later
   * rows move to free rows.
   */
  private shrink(): void {
    const size = powerOfTwo(this.rows)
    if (size === this.size) return
    const used = new Set(this.live.map(({ slot }) => slot))
    const free = Array.from({ length: size }, (_, slot) => slot).filter(slot => !used.has(slot))
    const moved = this.live.filter(({ slot }) => slot >= size)
    for (const [index, row] of moved.entries()) {
      const to = free[index] ?? 0
      this.caches.move(row.slot, to)
      row.slot = to
    }
    this.size = size
  }

  /**
   * Called when a window is removed from the batch, because its decoding has ended. Copies the attention of all its
   * steps at once from the GPU into the arrays that `attention` returned at these steps. The arrays contained zeros
   * until now.
   */
  private readAttention({ slot, asked }: Row): void {
    const count = Math.max(-1, ...asked.keys()) + 1
    const [first] = asked.values()
    if (!first) return
    const frames = first.length / this.parts.size.alignmentHeads.length
    const all = this.caches.attention(slot, count, frames)
    for (const [step, attention] of asked)
      attention.set(all.subarray(step * first.length, (step + 1) * first.length))
  }
}

// One batch of windows that a network in the compact form (8-bit weights) decodes. Each window is a row of the batch. A
// row with complete text is removed, and the last row moves to its place.

import { forbidden } from '../network/decoder.ts'
import { headSize } from '../network/layers.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { firstRows, moveRow, type Run, type Tensor, tensor } from '../onnx/session.ts'
import { type Cross, framesIn, gather, kinds, release } from './compact-cross.ts'
import type { Facts } from './facts.ts'
import type { Batch, EncodedWindow } from './network.ts'

type Parts = { runtime: Runtime; facts: Facts; run: Run<[string, string, ...string[]]>; heads: number }

export class CompactBatch implements Batch {
  rows: number
  /** The number of tokens that the last run of the decoder added to each row of the batch. */
  private positions = 0
  /** The indices of the tokens whose scores the last run computed. The first token of the run has the index 0. */
  private wanted: readonly number[] = []
  /** The number of tokens whose keys and values are cached. The number is the same for all rows (windows). */
  private length = 0
  private scores: Float32Array = new Float32Array(0)
  private totals: Float32Array = new Float32Array(0)
  private seen: Float32Array = new Float32Array(0)
  private outputs: Tensor[]
  /**
   * The cached keys and values of all rows (windows), layer by layer. They are outputs of the last run. After a row was
   * removed, they are tensors that refer to the memory of these outputs, with one row fewer.
   */
  private self: Tensor[]
  /** Tensors that share memory with the outputs of the last run. The next run frees these tensors and the outputs. */
  private held: Tensor[] = []
  private readonly cross: Cross[]
  /** The number of encoded frames in the longest window. Each row of the batch has memory for this number of frames. */
  private readonly frames: number
  /**
   * The encoder's output `mass` for all rows of the batch. In most of the silence after the sound, the encoder reads
   * only one of several model frames (20 ms each), to save time. Such an encoded frame represents n model frames, and
   * its `mass` is log(n). The decoder adds log(n) to the attention score of the frame. After the softmax, the frame
   * then has the weight of n frames. The unused end of a shorter row has the value `forbidden`, so the attention
   * ignores it.
   */
  private readonly mass: Float32Array
  private crossViews: Tensor[]

  constructor(
    private readonly parts: Parts,
    windows: readonly EncodedWindow[],
    prompt: readonly number[],
  ) {
    const { runtime, facts } = parts
    this.rows = windows.length
    const counts = windows.map(framesIn)
    this.frames = Math.max(...counts)
    this.cross = kinds.map((_, index) => gather(windows, index, this.frames, facts))
    this.mass = new Float32Array(this.rows * this.frames).fill(forbidden)
    for (const [row, { tensors }] of windows.entries()) {
      const mass = tensors[kinds.length]?.floats(counts[row] ?? 0)
      if (mass) this.mass.set(mass, row * this.frames)
    }
    this.crossViews = this.viewCross()
    this.self = Array.from({ length: 2 * facts.layers }, () =>
      tensor(runtime, 'float32', new Float32Array(0), [this.rows, facts.heads, 0, headSize]),
    )
    this.outputs = this.self
    this.feed(
      windows.flatMap(() => prompt),
      prompt.length,
    )
  }

  logits(row: number, position = this.positions - 1): Float32Array {
    const size = this.parts.facts.vocabulary
    const index = this.wanted.indexOf(position)
    if (index === -1) throw new RangeError(`the scores of token ${position} were not computed`)
    const from = (row * this.wanted.length + index) * size
    return this.scores.subarray(from, from + size)
  }

  logTotal(row: number): number | null {
    return this.totals[(row + 1) * this.wanted.length - 1] ?? null
  }

  attention(row: number, frames: number): Float32Array {
    const { heads } = this.parts
    const copied = new Float32Array(heads * frames)
    for (let head = 0; head < heads; head++) {
      const from = ((row * heads + head) * this.positions + this.positions - 1) * this.frames
      copied.set(this.seen.subarray(from, from + frames), head * frames)
    }
    return copied
  }

  step(tokens: readonly number[]): void {
    if (tokens.length !== this.rows) throw new RangeError(`a token for each of ${this.rows} rows is needed`)
    this.feed(tokens, 1)
  }

  drop(row: number): void {
    const { facts, runtime } = this.parts
    const last = this.rows - 1
    if (row !== last) {
      for (const layer of this.self) moveRow(layer, last, row, this.length * facts.width * 4)
      for (const { memory, rowBytes } of this.cross) {
        for (let at = 0; at < memory.length; at += memory.length / facts.layers)
          memory.copyWithin(at + row * rowBytes, at + last * rowBytes, at + (last + 1) * rowBytes)
      }
      this.mass.copyWithin(row * this.frames, last * this.frames, (last + 1) * this.frames)
    }
    this.rows = last
    if (last === 0) return
    for (const view of this.crossViews) view.free()
    this.crossViews = this.viewCross()
    const views = this.self.map(layer =>
      firstRows(runtime, layer, 'float32', [last, facts.heads, this.length, headSize]),
    )
    // These views refer to the outputs of the last run. The next run frees the outputs and the views.
    this.held.push(...views)
    this.self = views
  }

  close(): void {
    for (const owned of [...this.outputs, ...this.held, ...this.crossViews]) owned.free()
    for (const cross of this.cross) release(cross)
  }

  /**
   * Runs the decoder, which adds `count` tokens to each row. `tokens` has all tokens of the first row, then all tokens
   * of the second row, and so on.
   */
  private feed(tokens: readonly number[], count: number): void {
    const { runtime, facts, run, heads } = this.parts
    const integers = (values: readonly number[], dims: readonly number[]) =>
      tensor(runtime, 'int64', BigInt64Array.from(values, BigInt), dims)
    const starts = Array.from({ length: this.rows }, () => 0)
    // A prompt needs the scores at two tokens only. The scores at the start token show whether the window contains
    // speech. The scores at the last token predict the first token of the text.
    const start = Math.max(0, tokens.slice(0, count).indexOf(facts.start))
    this.wanted = [...new Set([start, count - 1])]
    const given = [
      integers(tokens, [this.rows, count]),
      integers(starts, [this.rows]),
      integers(this.wanted, [this.wanted.length]),
      tensor(runtime, 'float32', this.mass, [this.rows, 1, 1, this.frames]),
    ]
    const results = run([...given, ...this.self, ...this.crossViews])
    for (const used of [...given, ...this.outputs, ...this.held]) used.free()
    this.held = []
    this.outputs = results
    this.positions = count
    this.length += count
    const [scores, totals, ...others] = results
    this.scores = scores.floats(this.rows * this.wanted.length * facts.vocabulary)
    this.totals = totals.floats(this.rows * this.wanted.length)
    const attention = heads > 0 ? others.shift() : undefined
    if (attention) this.seen = attention.floats(this.rows * heads * count * this.frames)
    this.self = others
  }

  /**
   * Returns the tensors that the cross-attention of the decoder reads, for all windows still in the batch. There is one
   * tensor for each kind (such as the keys) and layer. The tensors refer to the memory of `cross`, without a copy.
   */
  private viewCross(): Tensor[] {
    const { runtime, facts } = this.parts
    return this.cross.flatMap(({ kind: { type, bytes }, length, memory }) =>
      Array.from({ length: facts.layers }, (_, layer) => {
        const from = (layer * memory.length) / facts.layers / bytes
        return tensor(runtime, type, memory, [this.rows, facts.heads, length, headSize], from)
      }),
    )
  }
}

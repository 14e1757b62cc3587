// One batch of windows that a decoder graph in the layout of onnx-community decodes. Each window is a row of the batch.
// The first run adds the prompt, and each later run adds one token to each row. A row with complete text is removed,
// and the last row moves to its place.

import { windowFrames } from '../audio.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { firstRows, moveRow, type Run, type Tensor, tensor } from '../onnx/session.ts'
import type { Head } from './alignment-heads.ts'
import type { Facts } from './facts.ts'
import type { Batch, EncodedWindow } from './network.ts'

type DecoderRun = Run<[string, ...string[]]>

type Parts = {
  runtime: Runtime
  facts: Facts
  prefill: DecoderRun
  step: DecoderRun
  heads: readonly Head[]
  /** The indices of the decoder layers whose cross-attention is an output of each run. */
  attended: readonly number[]
  useCache: { first: Tensor; later: Tensor }
  /** True if the decoder has the input `cache_position`. */
  takesPositions: boolean
}

/**
 * The outputs of one run of the decoder. `tensors` has all outputs, except the keys and values of the cross-attention.
 * Each other field has some of these outputs:
 * - `scores`: the scores of all tokens of the vocabulary;
 * - `attention`: the cross-attention of the layers that have alignment heads, by the index of the layer;
 * - `self`: the keys and values of all tokens so far, which are the cache of the next run.
 */
type Outputs = {
  tensors: Tensor[]
  scores: Float32Array
  attention: Map<number, Float32Array>
  self: Tensor[]
}

export class PublishedBatch implements Batch {
  rows: number
  private readonly states: Float32Array
  /** The number of tokens that the last run of the decoder added to each row of the batch. */
  private positions: number
  /**
   * The number of tokens in each row of the key-value cache. This cache holds the decoder's keys and values for the
   * tokens so far.
   */
  private length: number
  private outputs: Outputs
  private self: Tensor[]
  private cross: Tensor[]
  private readonly crossOwners: Tensor[]
  /**
   * Tensors that `drop` has made. They use the memory of the outputs of the decoder's last run. The next call of `step`
   * runs the decoder with this memory as input, and then frees these tensors and the outputs.
   */
  private held: Tensor[] = []

  constructor(
    private readonly parts: Parts,
    windows: readonly EncodedWindow[],
    prompt: readonly number[],
  ) {
    const { runtime, facts, attended } = parts
    const rows = windows.length
    this.rows = rows
    this.states = statesOf(windows, windowFrames * facts.width)
    const size = facts.width / facts.heads
    const empty = Array.from({ length: 4 * facts.layers }, () =>
      tensor(runtime, 'float32', new Float32Array(0), [rows, facts.heads, 0, size]),
    )
    this.positions = prompt.length
    this.length = prompt.length
    const ids = this.ids(Array.from({ length: rows }, () => prompt).flat(), prompt.length)
    const hidden = this.hidden()
    const places = this.places(0)
    const results = parts.prefill([ids, hidden, ...empty, parts.useCache.first, ...places])
    for (const input of [ids, hidden, ...empty, ...places]) input.free()
    this.crossOwners = results.splice(1 + attended.length + 2 * facts.layers)
    this.cross = this.crossOwners
    this.outputs = this.outputsOf(results)
    this.self = this.outputs.self
  }

  logits(row: number, position = this.positions - 1): Float32Array {
    const size = this.parts.facts.vocabulary
    const from = (row * this.positions + position) * size
    return this.outputs.scores.subarray(from, from + size)
  }

  attention(row: number, frames: number): Float32Array {
    const { heads, facts } = this.parts
    const copied = new Float32Array(heads.length * frames)
    for (const [index, [layer, head]] of heads.entries()) {
      const from = ((row * facts.heads + head) * this.positions + this.positions - 1) * windowFrames
      const attention = this.outputs.attention.get(layer)
      if (attention) copied.set(attention.subarray(from, from + frames), index * frames)
    }
    return copied
  }

  step(tokens: readonly number[]): void {
    const { step, useCache } = this.parts
    if (tokens.length !== this.rows) throw new RangeError(`a token for each of ${this.rows} rows is needed`)
    const ids = this.ids(tokens, 1)
    const hidden = this.hidden()
    this.positions = 1
    const places = this.places(this.length)
    const results = step([ids, hidden, ...this.self, ...this.cross, useCache.later, ...places])
    for (const used of [ids, hidden, ...places, ...this.outputs.tensors, ...this.held]) used.free()
    this.held = []
    this.length++
    this.outputs = this.outputsOf(results)
    this.self = this.outputs.self
  }

  drop(row: number): void {
    const { facts, runtime } = this.parts
    const last = this.rows - 1
    const rowBytes = (length: number) => length * facts.width * 4
    if (row !== last) {
      for (const layer of this.self) moveRow(layer, last, row, rowBytes(this.length))
      for (const layer of this.cross) moveRow(layer, last, row, rowBytes(windowFrames))
    }
    this.rows = last
    if (last === 0) return
    const size = facts.width / facts.heads
    const shrink = (layer: Tensor, length: number) =>
      firstRows(runtime, layer, 'float32', [last, facts.heads, length, size])
    const before = this.cross === this.crossOwners ? [] : this.cross
    const views = this.self.map(layer => shrink(layer, this.length))
    this.cross = this.cross.map(layer => shrink(layer, windowFrames))
    for (const view of before) view.free()
    // These views refer to the memory of the outputs of the last run. The next step reads the views, and then frees
    // them with the outputs.
    this.held.push(...views)
    this.self = views
  }

  close(): void {
    const views = this.cross === this.crossOwners ? [] : this.cross
    for (const owned of [...this.outputs.tensors, ...this.held, ...views, ...this.crossOwners]) owned.free()
  }

  private ids(tokens: readonly number[], length: number): Tensor {
    return tensor(this.parts.runtime, 'int64', BigInt64Array.from(tokens, BigInt), [this.rows, length])
  }

  /**
   * Returns the input `cache_position` of the decoder: the positions of the tokens that the next run adds. `first` is
   * the first of these positions. Returns an empty list if the decoder does not have this input.
   */
  private places(first: number): Tensor[] {
    if (!this.parts.takesPositions) return []
    const places = BigInt64Array.from({ length: this.positions }, (_, index) => BigInt(first + index))
    return [tensor(this.parts.runtime, 'int64', places, [this.positions])]
  }

  /**
   * Returns the encoder states as an input of the decoder. All runs require this input, but only the first run reads
   * the states.
   */
  private hidden(): Tensor {
    const shape = [this.rows, windowFrames, this.parts.facts.width]
    return tensor(this.parts.runtime, 'float32', this.states, shape)
  }

  private outputsOf(tensors: [Tensor, ...Tensor[]]): Outputs {
    const { attended, facts } = this.parts
    const [scores, ...others] = tensors
    const attentionSize = this.rows * facts.heads * this.positions * windowFrames
    const attention = new Map<number, Float32Array>()
    for (const [index, layer] of attended.entries()) {
      const output = others[index]
      if (output) attention.set(layer, output.floats(attentionSize))
    }
    return {
      tensors,
      scores: scores.floats(this.rows * this.positions * facts.vocabulary),
      attention,
      self: others.slice(attended.length),
    }
  }
}

/** Joins the encoder states of all windows into one array. */
function statesOf(windows: readonly EncodedWindow[], size: number): Float32Array {
  const states = new Float32Array(windows.length * size)
  for (const [row, { tensors }] of windows.entries()) {
    const [output] = tensors
    if (output) states.set(output.floats(size), row * size)
  }
  return states
}

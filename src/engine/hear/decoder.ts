// One batch of windows going through the decoder: a token a row at each step, the cache staying in the library's
// memory, rows that are done dropped by moving the last row into their place.

import { windowFrames } from '../audio.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { copyBytes, firstRows, type Run, type Tensor, tensor } from '../onnx/session.ts'
import type { Facts, Whisper } from './whisper.ts'

export type Decoder = {
  /** Feeds the same prompt to every row; the answer is about the token after it. */
  begin(states: Float32Array, rows: number, prompt: readonly number[]): Batch
}

export type Batch = {
  rows: number
  /** Scores over the vocabulary at a position of what was last fed (the last one when not named). */
  logits(row: number, position?: number): Float32Array
  /** Where this row's last token looked: one array of 1500 per alignment head, copied out. */
  attention(row: number, frames: number): Float32Array
  step(tokens: readonly number[]): void
  /** Forgets a row: the last one takes its place. */
  drop(row: number): void
  close(): void
}

export function makeDecoder(runtime: Runtime, whisper: Whisper, withAttention: boolean): Decoder {
  const { facts, decoder } = whisper
  const layers = Array.from({ length: facts.layers }, (_, index) => index)
  const self = layers.flatMap(layer => [`${layer}.decoder.key`, `${layer}.decoder.value`])
  const cross = layers.flatMap(layer => [`${layer}.encoder.key`, `${layer}.encoder.value`])
  const heads = withAttention ? (facts.alignmentHeads ?? []) : []
  const lookedAt = [...new Set(heads.map(([layer]) => layer))].map(layer => `cross_attentions.${layer}`)
  const inputNames = [
    'input_ids',
    'encoder_hidden_states',
    ...[...self, ...cross].map(each => `past_key_values.${each}`),
    'use_cache_branch',
  ]
  const present = (names: string[]) => names.map(each => `present.${each}`)
  const prefill = decoder.run(inputNames, ['logits', ...lookedAt, ...present(self), ...present(cross)])
  const step = decoder.run(inputNames, ['logits', ...lookedAt, ...present(self)])
  for (const name of ['logits', ...lookedAt, ...present(self)]) {
    const port = decoder.outputs.find(each => each.name === name)
    if (port?.type !== 'float32') throw new Error(`the decoder's ${name} is not understood`)
  }
  const flag = (value: boolean) => tensor(runtime, 'bool', Uint8Array.of(value ? 1 : 0), [1])
  const shared = { first: flag(false), later: flag(true) }
  return {
    begin: (states, rows, prompt) =>
      new RunningBatch({ runtime, facts, prefill, step, heads, lookedAt, shared }, states, rows, prompt),
  }
}

type Parts = {
  runtime: Runtime
  facts: Facts
  prefill: Run
  step: Run
  heads: readonly [number, number][]
  lookedAt: readonly string[]
  shared: { first: Tensor; later: Tensor }
}

class RunningBatch implements Batch {
  private positions: number
  private length: number
  private scores: Float32Array
  private looks: Float32Array[]
  private outputs: Tensor[]
  private self: Tensor[]
  private cross: Tensor[]
  private readonly crossOwners: Tensor[]
  /** Outputs of earlier runs that still back a view. */
  private held: Tensor[] = []

  constructor(
    private readonly parts: Parts,
    private readonly states: Float32Array,
    public rows: number,
    prompt: readonly number[],
  ) {
    const { runtime, facts } = parts
    const size = facts.width / facts.heads
    const empty = Array.from({ length: 4 * facts.layers }, () =>
      tensor(runtime, 'float32', new Float32Array(0), [rows, facts.heads, 0, size]),
    )
    const ids = Array.from({ length: rows }, () => prompt).flat()
    const given = [this.ids(ids, prompt.length), this.hidden(), ...empty, parts.shared.first]
    const results = parts.prefill(given)
    for (const each of [...given.slice(0, 2), ...empty]) each.free()
    this.positions = prompt.length
    this.length = prompt.length
    this.crossOwners = results.splice(1 + parts.lookedAt.length + 2 * facts.layers)
    this.cross = this.crossOwners
    this.outputs = results
    this.self = results.slice(1 + parts.lookedAt.length)
    this.scores = this.view(0, rows * this.positions * facts.vocabulary)
    this.looks = this.lookViews()
  }

  logits(row: number, position = this.positions - 1): Float32Array {
    const size = this.parts.facts.vocabulary
    const from = (row * this.positions + position) * size
    return this.scores.subarray(from, from + size)
  }

  attention(row: number, frames: number): Float32Array {
    const { heads, lookedAt, facts } = this.parts
    const copied = new Float32Array(heads.length * frames)
    for (const [index, [layer, head]] of heads.entries()) {
      const all = this.looks[lookedAt.indexOf(`cross_attentions.${layer}`)]!
      const from = ((row * facts.heads + head) * this.positions + this.positions - 1) * windowFrames
      copied.set(all.subarray(from, from + frames), index * frames)
    }
    return copied
  }

  step(tokens: readonly number[]): void {
    const { facts, shared } = this.parts
    if (tokens.length !== this.rows) throw new RangeError(`a token for each of ${this.rows} rows is needed`)
    const given = [this.ids(tokens, 1), this.hidden()]
    const results = this.parts.step([...given, ...this.self, ...this.cross, shared.later])
    for (const each of [...given, ...this.outputs, ...this.held]) each.free()
    this.held = []
    this.outputs = results
    this.self = results.slice(1 + this.parts.lookedAt.length)
    this.positions = 1
    this.length++
    this.scores = this.view(0, this.rows * facts.vocabulary)
    this.looks = this.lookViews()
  }

  drop(row: number): void {
    const { facts, runtime } = this.parts
    const last = this.rows - 1
    const rowBytes = (length: number) => length * facts.width * 4
    if (row !== last) {
      for (const each of this.self) moveRow(each, last, row, rowBytes(this.length))
      for (const each of this.cross) moveRow(each, last, row, rowBytes(windowFrames))
    }
    this.rows = last
    if (last === 0) return
    const size = facts.width / facts.heads
    const shrink = (each: Tensor, length: number) =>
      firstRows(runtime, each, 'float32', [last, facts.heads, length, size])
    const before = this.cross === this.crossOwners ? [] : this.cross
    const views = this.self.map(each => shrink(each, this.length))
    this.cross = this.cross.map(each => shrink(each, windowFrames))
    for (const each of before) each.free()
    // The views read the run's own outputs, which stay until the next step.
    this.held.push(...views)
    this.self = views
  }

  close(): void {
    const views = this.cross === this.crossOwners ? [] : this.cross
    for (const each of [...this.outputs, ...this.held, ...views, ...this.crossOwners]) each.free()
  }

  private ids(tokens: readonly number[], length: number): Tensor {
    return tensor(this.parts.runtime, 'int64', BigInt64Array.from(tokens, BigInt), [this.rows, length])
  }

  /** Only the first run reads them; afterwards their shape must fit the rows, their content no more. */
  private hidden(): Tensor {
    const shape = [this.rows, windowFrames, this.parts.facts.width]
    return tensor(this.parts.runtime, 'float32', this.states, shape)
  }

  private view(index: number, length: number): Float32Array {
    return this.outputs[index]!.floats(length)
  }

  private lookViews(): Float32Array[] {
    const { lookedAt, facts } = this.parts
    const size = this.rows * facts.heads * this.positions * windowFrames
    return lookedAt.map((_, index) => this.view(1 + index, size))
  }
}

function moveRow(each: Tensor, from: number, to: number, bytes: number): void {
  const address = Number(each.address)
  copyBytes((address + from * bytes) as never, (address + to * bytes) as never, bytes)
}

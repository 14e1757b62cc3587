// A prepared run of the decoder graph on a GPU, with a fixed number of rows and of tokens. Its inputs and outputs have
// fixed memory, so the run can be started many times.

import { type Binding, RunOptions } from '../onnx/binding.ts'
import type { Shared } from '../onnx/device-memory.ts'
import type { ElementType } from '../onnx/elements.ts'
import type { Tensor } from '../onnx/tensor.ts'
import type { DeviceCaches, DeviceParts } from './device-caches.ts'

export type RunShape = {
  rows: number
  /** The number of tokens that one run adds to each row. A row is one window of the batch. */
  length: number
  /**
   * The indices of the input tokens at which the graph computes the scores of the next token. The first input token of
   * the run has the index 0.
   */
  wanted: readonly number[]
  /** If true, the run writes the scores of the tokens to memory that the CPU can read. */
  withScores: boolean
  /**
   * The id of a CUDA recording, or `notRecorded`. In the first runs with this id, CUDA records its kernel calls (the
   * operations on the GPU). In later runs, CUDA replays all recorded calls at once, which is faster.
   */
  record: number
}

/**
 * CUDA can record the GPU operations of a run, and later replay all of them at once. With this value of
 * `RunShape.record`, CUDA instead starts the operations one by one.
 */
export const notRecorded = -1

/** The integer inputs of the decoder's ONNX graph that the CPU writes before each run. */
export type RunInputs = Record<'tokens' | 'positions' | 'starts' | 'lengths' | 'seen', readonly number[]>

export class DecoderRun {
  private readonly binding: Binding
  private readonly options: RunOptions
  private readonly ports = new Map<string, Shared>()
  private readonly views: Tensor[]

  constructor(
    { runtime, session, memory, facts }: DeviceParts,
    caches: DeviceCaches,
    readonly shape: RunShape,
  ) {
    const { rows, length, wanted, withScores, record } = shape
    this.binding = session.bind()
    this.options = new RunOptions(runtime, { gpu_graph_id: `${record}` })
    const share = (name: string, type: ElementType, dims: readonly number[]) => {
      const port = memory.shared(type, dims)
      this.ports.set(name, port)
      return port.tensor
    }
    for (const name of ['tokens', 'positions']) this.binding.input(name, share(name, 'int64', [rows, length]))
    for (const name of ['starts', 'lengths', 'seen']) this.binding.input(name, share(name, 'int64', [rows]))
    this.binding.input('wanted', share('wanted', 'int64', [wanted.length]))
    this.integers('wanted').set(wanted.map(BigInt))
    this.binding.input('allowed', share('allowed', 'float32', [rows, 4]))
    this.binding.output('picked', share('picked', 'float32', [rows, 2]))
    if (withScores) {
      const dims = [rows, wanted.length, facts.vocabulary]
      this.binding.output('scores', share('scores', 'float32', dims))
    }
    this.views = caches.bind(this.binding, rows)
  }

  /**
   * The input `allowed` of the graph. For each row (one window), it has four numbers that describe which tokens may
   * come next.
   */
  get allowed(): Float32Array {
    return this.floats('allowed')
  }

  /**
   * The output `picked` of the last run. For each row (one window), it has the id of the chosen token, and the
   * logarithm of its probability.
   */
  get picked(): Float32Array {
    return this.floats('picked')
  }

  /**
   * The output `scores` of the last run: the scores of the whole vocabulary, for each row (window) and each position in
   * `wanted`. Throws if the run returns no scores.
   */
  get scores(): Float32Array {
    return this.floats('scores')
  }

  run(inputs: RunInputs): void {
    for (const [name, values] of Object.entries(inputs)) this.integers(name).set(values.map(BigInt))
    this.binding.run(this.options)
  }

  close(): void {
    this.binding.close()
    this.options.close()
    for (const view of this.views) view.free()
    for (const port of this.ports.values()) port.free()
  }

  private floats(name: string): Float32Array {
    const { buffer, byteOffset, byteLength } = this.bytes(name)
    return new Float32Array(buffer, byteOffset, byteLength / 4)
  }

  private integers(name: string): BigInt64Array {
    const { buffer, byteOffset, byteLength } = this.bytes(name)
    return new BigInt64Array(buffer, byteOffset, byteLength / 8)
  }

  private bytes(name: string): Uint8Array {
    const port = this.ports.get(name)
    if (!port) throw new RangeError(`the run has no ${name}`)
    return port.bytes
  }
}

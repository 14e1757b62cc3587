// The caches of the decoder in the memory of a GPU, for all rows of a batch, and the operations that write, move and
// read rows of these caches.

import { moveRows, readAttention, writeRows, zeros } from '../network/cache-graphs.ts'
import { cacheNames, updated } from '../network/float-caches.ts'
import type { FloatSize, FloatType } from '../network/float-size.ts'
import type { Binding } from '../onnx/binding.ts'
import type { DeviceMemory } from '../onnx/device-memory.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, openSession, type Session, type Tensor, tensor } from '../onnx/session.ts'
import type { Facts } from './facts.ts'

export type DeviceParts = {
  runtime: Runtime
  session: Session
  memory: DeviceMemory
  device: Device
  facts: Facts
  size: FloatSize
  type: FloatType
}

type Cache = { name: string; rowDims: number[]; tensor: Tensor }

export class DeviceCaches {
  private readonly own: Cache[]
  private readonly cross: Cache[]
  private readonly writer: Session
  private readonly mover: Session
  private readonly reader: Session | null

  constructor(
    private readonly parts: DeviceParts,
    /** The number of rows for which each cache has memory. A row belongs to one window of a batch. */
    readonly capacity: number,
  ) {
    const { memory, size, type, runtime, device } = parts
    const allocate = (name: string): Cache => {
      const rowDims = rowDimsOf(name, parts)
      return { name, rowDims, tensor: memory.tensor(type, [capacity, ...rowDims]) }
    }
    const names = cacheNames(size)
    this.own = names.own.map(allocate)
    this.cross = names.cross.map(allocate)
    for (const cache of this.own) this.clear(cache)
    const shape = ({ name, rowDims }: Cache) => ({ name, type, shape: ['rows', ...rowDims] })
    this.writer = openSession(runtime, writeRows(this.cross.map(shape)), device)
    this.mover = openSession(runtime, moveRows([...this.own, ...this.cross].map(shape)), device)
    const attention = this.own.find(({ name }) => name === 'attention')
    this.reader = attention ? openSession(runtime, readAttention(shape(attention)), device) : null
  }

  /**
   * Connects the first `rows` rows of each cache to a run of the decoder, without a copy. The run only reads the caches
   * in `cross`. The run updates the caches in `own` in place: the keys and values of the tokens, and the attention.
   * Returns tensors that refer to the connected rows. The caller must free these tensors.
   */
  bind(binding: Binding, rows: number): Tensor[] {
    const { memory, type } = this.parts
    const bindCache = ({ name, rowDims, tensor }: Cache) => {
      const view = memory.view(tensor, type, [rows, ...rowDims])
      binding.input(name, view)
      return { name, view }
    }
    const own = this.own.map(bindCache)
    for (const { name, view } of own) binding.output(updated + name, view)
    return [...own, ...this.cross.map(bindCache)].map(({ view }) => view)
  }

  /** Copies the tensors of an encoded window into the row `row` of the cross-attention caches. */
  write(row: number, window: readonly Tensor[]): void {
    if (window.length !== this.cross.length) throw new TypeError('the window was encoded by another network')
    this.update(this.writer, this.cross, { to: [row] }, binding => {
      for (const [index, { name }] of this.cross.entries()) binding.input(`new ${name}`, window[index]!)
    })
  }

  /** Copies rows within each cache: the content of row `from[n]` replaces the content of row `to[n]`. */
  move(from: readonly number[], to: readonly number[]): void {
    this.update(this.mover, [...this.own, ...this.cross], { from, to })
  }

  /**
   * Returns the cross-attention of the first `count` tokens in the row `row` of the caches: tokens × heads × frames
   * values. Each row belongs to one window.
   */
  attention(row: number, count: number, frames: number): Float32Array {
    const cache = this.own.find(({ name }) => name === 'attention')
    if (!cache || !this.reader) throw new TypeError('the model has no alignment heads')
    const heads = cache.rowDims[0] ?? 0
    const { memory } = this.parts
    const result = memory.shared('float32', [count, heads, frames])
    const binding = this.reader.bind()
    binding.input('attention', cache.tensor)
    const inputs = this.integers(binding, { row: [row], count: [count], frames: [frames] })
    binding.output('read', result.tensor)
    binding.run()
    binding.close()
    for (const each of inputs) each.free()
    const read = new Float32Array(result.bytes.slice().buffer)
    result.free()
    return read
  }

  close(): void {
    for (const { tensor } of [...this.own, ...this.cross]) tensor.free()
    for (const session of [this.writer, this.mover, this.reader]) session?.close()
  }

  private update(
    session: Session,
    caches: readonly Cache[],
    numbers: Record<string, readonly number[]>,
    bindMore: (binding: Binding) => void = () => {},
  ): void {
    const binding = session.bind()
    for (const { name, tensor } of caches) {
      binding.input(name, tensor)
      binding.output(updated + name, tensor)
    }
    bindMore(binding)
    const inputs = this.integers(binding, numbers)
    binding.run()
    binding.close()
    for (const each of inputs) each.free()
  }

  private integers(binding: Binding, numbers: Record<string, readonly number[]>): Tensor[] {
    return Object.entries(numbers).map(([name, values]) => {
      const input = tensor(this.parts.runtime, 'int64', BigInt64Array.from(values, BigInt), [values.length])
      binding.input(name, input)
      return input
    })
  }

  /**
   * Fills a cache with zeros. The attention operation multiplies the values at unwritten places by 0. Uninitialised
   * memory may contain NaN, and 0 × NaN is NaN.
   */
  private clear({ rowDims, tensor }: Cache): void {
    const { runtime, device, type } = this.parts
    const session = openSession(runtime, zeros(type, [this.capacity, ...rowDims]), device)
    const binding = session.bind()
    binding.output('zeros', tensor)
    binding.run()
    binding.close()
    session.close()
  }
}

/** Returns the dimensions of one row of the cache `name`. A row is the part of a cache that belongs to one window. */
export function rowDimsOf(name: string, { size }: Pick<DeviceParts, 'size'>): number[] {
  const { width, heads, frames, positions, alignmentHeads } = size
  if (name === 'attention') return [alignmentHeads.length, positions, frames]
  if (name === 'cross aligned') return [alignmentHeads.length, width / heads, frames]
  return [name.startsWith('own') ? positions : frames, width]
}

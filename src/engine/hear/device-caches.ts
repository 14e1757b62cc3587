// The caches of the decoder in the memory of a GPU, for all rows of a batch.

import { moveRow, readAttention, writeRow, zeros } from '../network/cache-graphs.ts'
import { cacheNames, updated } from '../network/float-caches.ts'
import type { FloatSize, FloatType } from '../network/float-size.ts'
import type { Binding } from '../onnx/binding.ts'
import type { DeviceMemory } from '../onnx/device-memory.ts'
import { elementsIn } from '../onnx/elements.ts'
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

/**
 * The ONNX sessions that clear, write, move and read rows of the caches. One session works for caches with any number
 * of rows.
 */
export class CacheSessions {
  readonly zeros: Session
  readonly writer: Session
  readonly mover: Session
  /**
   * Reads the attention of the alignment heads, which gives the times of words. Null if the model has no alignment
   * heads: then there is no cache of their attention.
   */
  readonly reader: Session | null
  private readonly opened: Session[] = []

  constructor({ runtime, device, size, type }: Omit<DeviceParts, 'memory' | 'session' | 'facts'>) {
    const { own, cross } = cacheNames(size)
    const shape = (name: string) => ({ name, type, shape: [1, 'rows', ...rowDimsOf(name, { size })] })
    const open = (model: Uint8Array) => {
      const session = openSession(runtime, model, device)
      this.opened.push(session)
      return session
    }
    try {
      this.zeros = open(zeros(type))
      this.writer = open(writeRow(cross.map(shape)))
      this.mover = open(moveRow([...own, ...cross].map(shape)))
      const attention = { name: 'attention', type, shape: ['rows', ...rowDimsOf('attention', { size })] }
      this.reader = own.includes('attention') ? open(readAttention(attention)) : null
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    for (const session of this.opened) session.close()
  }
}

/**
 * `rowsView` refers to the same memory as `tensor`, with one more dimension: [1, rows, …]. The ONNX graphs that write
 * and move rows need this form.
 */
type Cache = { name: string; rowDims: number[]; tensor: Tensor; rowsView: Tensor }

export class DeviceCaches {
  private readonly own: Cache[]
  private readonly cross: Cache[]

  constructor(
    private readonly parts: DeviceParts,
    private readonly sessions: CacheSessions,
    /** The number of rows for which each cache has memory. A row belongs to one window. */
    readonly capacity: number,
  ) {
    const { memory, size, type } = parts
    const allocate = (name: string): Cache => {
      const rowDims = rowDimsOf(name, parts)
      const tensor = memory.tensor(type, [capacity, ...rowDims])
      return { name, rowDims, tensor, rowsView: memory.view(tensor, type, [1, capacity, ...rowDims]) }
    }
    const names = cacheNames(size)
    this.own = names.own.map(allocate)
    this.cross = names.cross.map(allocate)
    for (const cache of this.own) this.clear(cache)
  }

  /**
   * Connects the first `rows` rows of each cache to a run of the decoder, without a copy. The run reads the caches in
   * `cross` (keys and values of the encoded windows), and updates the caches in `own` (of the decoder's tokens) in
   * place. Returns tensors that refer to the connected rows. The caller must free these tensors.
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
    this.update(this.sessions.writer, this.cross, { to: [row] }, binding => {
      for (const [index, { name }] of this.cross.entries()) binding.input(`new ${name}`, window[index]!)
    })
  }

  /** Copies the row `from` (the values of one window) over the row `to` in each cache. */
  move(from: number, to: number): void {
    this.update(this.sessions.mover, [...this.own, ...this.cross], { from: [from], to: [to] })
  }

  /** Returns the cross-attention of the first `count` tokens of one row (window): tokens × heads × frames values. */
  attention(row: number, count: number, frames: number): Float32Array {
    const cache = this.own.find(({ name }) => name === 'attention')
    const { reader } = this.sessions
    if (!cache || !reader) throw new TypeError('the model has no alignment heads')
    const heads = cache.rowDims[0] ?? 0
    const { memory } = this.parts
    const result = memory.shared('float32', [count, heads, frames])
    const binding = reader.bind()
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
    for (const { tensor, rowsView } of [...this.own, ...this.cross]) {
      rowsView.free()
      tensor.free()
    }
  }

  private update(
    session: Session,
    caches: readonly Cache[],
    numbers: Record<string, readonly number[]>,
    bindMore: (binding: Binding) => void = () => {},
  ): void {
    const binding = session.bind()
    for (const { name, rowsView } of caches) {
      binding.input(name, rowsView)
      binding.output(updated + name, rowsView)
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
   * Fills a cache with zeros. The attention multiplies the values at unwritten places by 0. Without zeros, these places
   * could contain NaN, and 0 × NaN is NaN.
   */
  private clear({ rowDims, tensor }: Cache): void {
    const { memory, type } = this.parts
    const count = elementsIn([this.capacity, ...rowDims])
    const flat = memory.view(tensor, type, [count])
    const binding = this.sessions.zeros.bind()
    const inputs = this.integers(binding, { count: [count] })
    binding.output('zeros', flat)
    binding.run()
    binding.close()
    for (const each of [...inputs, flat]) each.free()
  }
}

/** Returns the dimensions of one row (window) of the cache `name`. */
export function rowDimsOf(name: string, { size }: Pick<DeviceParts, 'size'>): number[] {
  const { width, heads, frames, positions, alignmentHeads } = size
  if (name === 'attention') return [alignmentHeads.length, positions, frames]
  if (name === 'cross aligned') return [alignmentHeads.length, width / heads, frames]
  return [name.startsWith('own') ? positions : frames, width]
}

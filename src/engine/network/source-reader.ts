// Reads the tensors of a model, and frees the memory of tensors that are no longer used.

import { limits } from '../../limits.ts'
import type { Source } from './source.ts'

export class SourceReader {
  /** The length of each tensor that `read` has already read, so that `lengthOf` need not read the tensor again. */
  private readonly lengths = new Map<string, number>()
  private garbageBytes = 0

  constructor(private readonly source: Source) {}

  layersOf(half: string): string[] {
    const names: string[] = []
    while (this.source.has(`${half}.layers.${names.length}.fc1.weight`))
      names.push(`${half}.layers.${names.length}`)
    if (names.length === 0) throw new Error(`the model has no layers of its ${half}`)
    return names
  }

  read(name: string): Float32Array {
    const read = this.source.get(name)
    if (!read) throw new Error(`the model has no ${name}`)
    // The memory of a tensor's array is outside the garbage-collected heap. The garbage collector therefore notices too
    // little of this memory, and runs too seldom by itself. So the garbage collector is called here each time more than
    // `tensorGarbageBytesMax` bytes were read.
    if (this.garbageBytes > limits.tensorGarbageBytesMax) {
      Bun.gc(true)
      this.garbageBytes = 0
    }
    const floats = read()
    if (floats.length === 0) throw new Error(`the model has an empty ${name}`)
    this.garbageBytes += floats.byteLength
    this.lengths.set(name, floats.length)
    return floats
  }

  /** Returns the content of a tensor. Returns undefined if the model does not have the tensor. */
  find(name: string): Float32Array | undefined {
    return this.source.get(name)?.()
  }

  lengthOf(name: string): number {
    return this.lengths.get(name) ?? this.read(name).length
  }
}

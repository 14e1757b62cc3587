// The frame embeddings of one recording: for each 40 ms, a vector from the speech model that represents the voice. For
// a span of less than about a second, the embedding model alone is not exact enough. The mean frame embedding of the
// span then helps to find who speaks.

import { framesPerEmbedding, samplesPerFrame } from '../audio.ts'
import { type FrameSpan, startOf } from './views.ts'
import type { PlacedSpan } from './voice-counts.ts'

/** The number of samples to which one frame embedding belongs: 40 ms. */
const slotSamples = framesPerEmbedding * samplesPerFrame
/** Each value in a frame embedding is from -1 to 1. It is stored as an integer from -`scale` to `scale`. */
const scale = 127
/** The number of frame embeddings in a block: one minute. */
const blockSlots = 1500

export class FrameEmbeddings {
  /**
   * The frame embeddings of the recording, one after the other, in blocks of one minute. Outside all windows of the
   * speech model, the values are 0. A minute without any window may have no block.
   */
  private readonly blocks: Int8Array[] = []
  /** The number of values in a frame embedding. It is 0 until the first frame embedding is added. */
  private width = 0

  /** True if no frame embeddings were added, for example because the speech model gives none. */
  get isEmpty(): boolean {
    return this.width === 0
  }

  /**
   * Adds the frame embeddings of one window of the speech model. `placed` has the spans of the recording that form the
   * window, and their starts in the window. `width` is the number of values in a frame embedding.
   */
  add(placed: readonly PlacedSpan[], embeddings: Float32Array, width: number): void {
    const count = embeddings.length / width
    this.width = width
    for (const { from, to, at } of placed) {
      const end = slotAfter(to)
      for (let slot = slotAfter(from); slot < end; slot++) {
        const sample = at + slot * slotSamples + slotSamples / 2 - from
        const row = Math.min(count - 1, Math.floor(sample / slotSamples))
        const block = this.blockAt(Math.floor(slot / blockSlots))
        const start = (slot % blockSlots) * width
        for (let index = 0; index < width; index++)
          block[start + index] = Math.round(scale * embeddings[row * width + index]!)
      }
    }
  }

  /** Returns the mean of the frame embeddings in a span of the recording. A missing frame embedding counts as zeros. */
  meanIn({ from, to }: FrameSpan): Float32Array {
    const mean = new Float32Array(this.width)
    const [first, end] = [from, to].map(frame => slotAfter(startOf(frame))) as [number, number]
    const last = Math.max(first, end - 1)
    for (let slot = first; slot <= last; slot++) {
      const block = this.blocks[Math.floor(slot / blockSlots)]
      const start = (slot % blockSlots) * this.width
      for (let index = 0; block && index < this.width; index++)
        mean[index]! += block[start + index]! / (scale * (last - first + 1))
    }
    return mean
  }

  private blockAt(index: number): Int8Array {
    this.blocks[index] ??= new Int8Array(blockSlots * this.width)
    return this.blocks[index]
  }
}

/** Returns the index of the first span of 40 ms whose middle is at `sample` or after it. */
function slotAfter(sample: number): number {
  return Math.max(0, Math.ceil(sample / slotSamples - 1 / 2))
}

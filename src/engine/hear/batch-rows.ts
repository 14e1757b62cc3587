// Limits the number of windows (at most 30 s of sound each) that Whisper decodes together in one batch.

import { limits } from '../../limits.ts'
import type { Whisper } from './whisper.ts'

/**
 * The maximum number of windows of one recording in a batch. On a CPU, a batch of 16 windows takes as long as two
 * batches of 8, and needs twice the memory. On a GPU, a batch of 32 windows takes little longer than one window.
 */
const rowsMax = { cpu: 8, gpu: 32 }

/**
 * Returns the maximum number of windows of one recording in a batch: `rowsMax`, or fewer to limit the memory of the
 * decoder's caches.
 */
export function rowsFor({ device, windowBytes }: Whisper): number {
  const kind = device === 'cpu' ? 'cpu' : 'gpu'
  return Math.max(1, Math.min(rowsMax[kind], Math.floor(limits.engineCacheBytes[kind] / windowBytes)))
}

/**
 * The maximum number of prompt tokens in all windows of a batch together. A decoder graph in the layout that
 * onnx-community publishes computes scores for each prompt token, which need much memory.
 */
const positionsMax = 1000

export function rowsWith(rows: number, context: readonly number[]): number {
  return Math.max(1, Math.min(rows, Math.floor(positionsMax / Math.max(1, context.length))))
}

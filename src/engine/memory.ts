// Checks before a model is loaded that its weights fit into the available memory.

import { statSync } from 'node:fs'
import { formatSize } from '../base/units.ts'

/**
 * Throws an error if the weight files together are larger than the available memory. Without this error, the kernel
 * would kill the process during the loading.
 */
export function requireMemory(files: readonly string[], available = availableMemory()): void {
  const sizes = files.map(path => ({ path, bytes: statSync(path).size }))
  const bytes = sizes.reduce((sum, file) => sum + file.bytes, 0)
  if (bytes <= available) return
  const { path } = sizes.reduce((largest, file) => (file.bytes > largest.bytes ? file : largest))
  throw new Error(
    `the weights take ${formatSize(bytes)} (the largest file is ${path}), and ${formatSize(available)} of memory is available`,
  )
}

/** Returns the available memory of the machine, or the limit of the cgroup if this limit is lower. */
function availableMemory(): number {
  const limit = process.constrainedMemory()
  return Math.min(process.availableMemory(), limit > 0 ? limit : Number.POSITIVE_INFINITY)
}

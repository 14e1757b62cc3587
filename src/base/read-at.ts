import { readSync } from 'node:fs'

/**
 * Reads `length` bytes at the offset `at` of an open file. The read position of the file does not change. The result
 * is shorter if the file ends earlier.
 */
export function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, at))
}

import { readSync } from 'node:fs'

/**
 * Reads `length` bytes from the offset `at` of an open file. The position in the file stays unchanged. The
 * result is shorter if the file ends earlier.
 */
export function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, at))
}

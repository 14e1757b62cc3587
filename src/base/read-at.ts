import { readSync } from 'node:fs'

/**
 * Reads `length` bytes at the offset `at` of an open file. The read position does not change. At the end of the file,
 * the result is shorter.
 */
export function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, at))
}

import { readSync } from 'node:fs'

/**
 * Reads from an offset of an open file, without moving its position. The result is shorter than `length` at the end of
 * the file.
 */
export function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, at))
}

import { readSync } from 'node:fs'

/** Reads at a place of an open file without moving its position. Shorter than `length` at the end of the file. */
export function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, at))
}

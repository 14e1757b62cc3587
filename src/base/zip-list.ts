// Reads the list of the files in a ZIP archive.

import { closeSync, fstatSync, openSync } from 'node:fs'
import { readAt } from './read-at.ts'

export type ZipEntry = {
  name: string
  size: number
  /** The size of the compressed file in the archive, in bytes. `size` is the size after extraction. */
  packed: number
  crc: number
  /** True if the file is compressed with Deflate, false if it is stored unchanged. */
  deflated: boolean
  /** The offset of the file's header in the archive. */
  at: number
}

const endMark = 0x06054b50

const entryMark = 0x02014b50

const endSize = 22

const entrySize = 46

const commentMax = 0xffff

export function listZip(path: string): ZipEntry[] {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const tail = readAt(file, Math.max(0, size - endSize - commentMax), Math.min(size, endSize + commentMax))
    const end = findLast(tail, endMark)
    if (end < 0) throw new Error(`${path} is no zip archive, or its end is missing`)
    const count = tail.readUInt16LE(end + 10)
    const length = tail.readUInt32LE(end + 12)
    const from = tail.readUInt32LE(end + 16)
    if (from + length > size) throw new Error(`${path} is broken, or larger than this program reads`)
    return entriesOf(readAt(file, from, length), count, path)
  } finally {
    closeSync(file)
  }
}

function entriesOf(directory: Buffer, count: number, path: string): ZipEntry[] {
  const entries: ZipEntry[] = []
  for (let at = 0; entries.length < count; ) {
    if (at + entrySize > directory.length || directory.readUInt32LE(at) !== entryMark)
      throw new Error(`${path} has a broken list of files`)
    const nameEnd = at + entrySize + directory.readUInt16LE(at + 28)
    const extraBytes = directory.readUInt16LE(at + 30)
    const commentBytes = directory.readUInt16LE(at + 32)
    const method = directory.readUInt16LE(at + 10)
    entries.push({
      name: directory.toString('utf8', at + entrySize, nameEnd),
      deflated: method === 8,
      crc: directory.readUInt32LE(at + 16),
      packed: directory.readUInt32LE(at + 20),
      size: directory.readUInt32LE(at + 24),
      at: directory.readUInt32LE(at + 42),
    })
    if (method !== 0 && method !== 8) throw new Error(`${path} is packed in a way that is not known here`)
    at = nameEnd + extraBytes + commentBytes
  }
  return entries
}

function findLast(bytes: Buffer, mark: number): number {
  for (let at = bytes.length - endSize; at >= 0; at--) if (bytes.readUInt32LE(at) === mark) return at
  return -1
}

// Extracts single files from a zip archive, to the disk or to memory. Extracting a file to the disk needs constant
// memory, whatever its size. The size and the CRC of each extracted file are checked. An archive above 4 GB is refused.

import { closeSync, createReadStream, createWriteStream, fstatSync, openSync } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'
import { readAt } from './read-at.ts'

export type ZipEntry = {
  name: string
  size: number
  /** The size of the compressed file in the archive, in bytes. `size` is the size of the file after extraction. */
  packed: number
  crc: number
  /** True if the file is compressed with Deflate, false if it is stored unchanged. */
  deflated: boolean
  /** The offset of the file's header in the archive. */
  at: number
}

const endMark = 0x06054b50
const entryMark = 0x02014b50
const headerMark = 0x04034b50
const endSize = 22
const entrySize = 46
const headerSize = 30
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

/**
 * Extracts one file of the zip archive at `path` to the path `target`. Throws if the size or the CRC of the extracted
 * file is wrong. The file at `target` is then incomplete or damaged.
 */
export async function extract(path: string, entry: ZipEntry, target: string): Promise<void> {
  const start = contentOf(path, entry)
  let size = 0
  let crc = 0
  const count = new Transform({
    transform(bytes: Buffer, _, done) {
      size += bytes.length
      crc = crc32(bytes, crc)
      done(size > entry.size ? new Error(`${entry.name} is longer than ${path} says`) : null, bytes)
    },
  })
  // `createReadStream` cannot read an empty range, so an empty file is read from an empty stream.
  const source =
    entry.packed === 0 ? Readable.from([]) : createReadStream(path, { start, end: start + entry.packed - 1 })
  if (entry.deflated) await pipeline(source, createInflateRaw(), count, createWriteStream(target))
  else await pipeline(source, count, createWriteStream(target))
  if (size !== entry.size || crc !== entry.crc) throw new Error(`${entry.name} in ${path} is broken`)
}

/** Extracts one small file of the zip archive at `path` into memory. Returns the content of this file. */
export function readEntry(path: string, entry: ZipEntry): Buffer {
  const file = openSync(path, 'r')
  try {
    const packed = readAt(file, contentOf(path, entry), entry.packed)
    const content = entry.deflated ? inflateRawSync(packed, { maxOutputLength: entry.size + 1 }) : packed
    if (content.length !== entry.size || crc32(content) !== entry.crc)
      throw new Error(`${entry.name} in ${path} is broken`)
    return content
  } finally {
    closeSync(file)
  }
}

/** Returns the offset in the archive at which the content of a file begins. */
function contentOf(path: string, entry: ZipEntry): number {
  const file = openSync(path, 'r')
  try {
    const header = readAt(file, entry.at, headerSize)
    if (header.length < headerSize || header.readUInt32LE(0) !== headerMark)
      throw new Error(`${path} has no ${entry.name} where it says`)
    return entry.at + headerSize + header.readUInt16LE(26) + header.readUInt16LE(28)
  } finally {
    closeSync(file)
  }
}

function findLast(bytes: Buffer, mark: number): number {
  for (let at = bytes.length - endSize; at >= 0; at--) if (bytes.readUInt32LE(at) === mark) return at
  return -1
}

// Takes single files out of a zip archive on disk, however large it is, checked by size and CRC. No encryption and no
// archive above 4 GB: whoever needs one of those is told.

import { closeSync, createReadStream, createWriteStream, fstatSync, openSync, readSync } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32, createInflateRaw } from 'node:zlib'

export type ZipEntry = {
  name: string
  size: number
  packed: number
  crc: number
  deflated: boolean
  /** Where its own header begins. */
  at: number
}

const endMark = 0x06054b50
const entryMark = 0x02014b50
const headerMark = 0x04034b50
const endSize = 22
const commentMax = 0xffff

export function listZip(path: string): ZipEntry[] {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const tail = readAt(file, Math.max(0, size - endSize - commentMax), Math.min(size, endSize + commentMax))
    const end = findLast(tail, endMark)
    if (end < 0) throw new Error(`${path} is no zip archive, or its end is missing`)
    const [count, length, from] = [
      tail.readUInt16LE(end + 10),
      tail.readUInt32LE(end + 12),
      tail.readUInt32LE(end + 16),
    ]
    if (from + length > size) throw new Error(`${path} is broken, or larger than this program reads`)
    return entriesOf(readAt(file, from, length), count, path)
  } finally {
    closeSync(file)
  }
}

function entriesOf(directory: Buffer, count: number, path: string): ZipEntry[] {
  const entries: ZipEntry[] = []
  for (let at = 0; entries.length < count; ) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== entryMark)
      throw new Error(`${path} has a broken list of files`)
    const [name, extra, comment] = [28, 30, 32].map(each => directory.readUInt16LE(at + each)) as [
      number,
      number,
      number,
    ]
    const method = directory.readUInt16LE(at + 10)
    entries.push({
      name: directory.toString('utf8', at + 46, at + 46 + name),
      deflated: method === 8,
      crc: directory.readUInt32LE(at + 16),
      packed: directory.readUInt32LE(at + 20),
      size: directory.readUInt32LE(at + 24),
      at: directory.readUInt32LE(at + 42),
    })
    if (method !== 0 && method !== 8) throw new Error(`${path} is packed in a way that is not known here`)
    at += 46 + name + extra + comment
  }
  return entries
}

/** Writes one file of the archive; what is not as the archive says is an error, and the target is then of no use. */
export async function extract(path: string, entry: ZipEntry, target: string): Promise<void> {
  const file = openSync(path, 'r')
  let from = 0
  try {
    const header = readAt(file, entry.at, 30)
    if (header.length < 30 || header.readUInt32LE(0) !== headerMark)
      throw new Error(`${path} has no ${entry.name} where it says`)
    from = entry.at + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
  } finally {
    closeSync(file)
  }
  let [size, crc] = [0, 0]
  const count = new Transform({
    transform(bytes: Buffer, _, done) {
      size += bytes.length
      crc = crc32(bytes, crc)
      done(size > entry.size ? new Error(`${entry.name} is longer than ${path} says`) : null, bytes)
    },
  })
  const packed =
    entry.packed === 0 ? [] : [createReadStream(path, { start: from, end: from + entry.packed - 1 })]
  const source = packed[0] ?? new Blob([]).stream()
  if (entry.deflated) await pipeline(source, createInflateRaw(), count, createWriteStream(target))
  else await pipeline(source, count, createWriteStream(target))
  if (size !== entry.size || crc !== entry.crc) throw new Error(`${entry.name} in ${path} is broken`)
}

function readAt(file: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, from))
}

function findLast(bytes: Buffer, mark: number): number {
  for (let at = bytes.length - endSize; at >= 0; at--) if (bytes.readUInt32LE(at) === mark) return at
  return -1
}

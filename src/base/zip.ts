// Extracts single files from a zip archive, to the disk or to memory. Extraction to the disk needs the same memory for
// every file size. The size and the CRC are checked. An archive above 4 GB is refused.

import { closeSync, createReadStream, createWriteStream, openSync } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { zlib } from './late-modules.ts'
import { readAt } from './read-at.ts'
import type { ZipEntry } from './zip-list.ts'

const headerMark = 0x04034b50
const headerSize = 30

/**
 * Extracts one file of the zip archive at `path` to `target`. Throws if its size or CRC is wrong, and then leaves the
 * incomplete or damaged file at `target`.
 */
export async function extract(path: string, entry: ZipEntry, target: string): Promise<void> {
  const start = contentOf(path, entry)
  let size = 0
  let crc = 0
  const count = new Transform({
    transform(bytes: Buffer, _, done) {
      size += bytes.length
      crc = zlib().crc32(bytes, crc)
      done(size > entry.size ? new Error(`${entry.name} is longer than ${path} says`) : null, bytes)
    },
  })
  // `createReadStream` cannot read an empty range, so an empty file is read from an empty stream.
  const source =
    entry.packed === 0 ? Readable.from([]) : createReadStream(path, { start, end: start + entry.packed - 1 })
  if (entry.deflated) await pipeline(source, zlib().createInflateRaw(), count, createWriteStream(target))
  else await pipeline(source, count, createWriteStream(target))
  if (size !== entry.size || crc !== entry.crc) throw new Error(`${entry.name} in ${path} is broken`)
}

/** Returns the content of one small file in the zip archive at `path`. */
export function readEntry(path: string, entry: ZipEntry): Buffer {
  const file = openSync(path, 'r')
  try {
    const packed = readAt(file, contentOf(path, entry), entry.packed)
    const content = entry.deflated
      ? zlib().inflateRawSync(packed, { maxOutputLength: entry.size + 1 })
      : packed
    if (content.length !== entry.size || zlib().crc32(content) !== entry.crc)
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

// Reads the names of the shared libraries that a native file depends on.

import { mapFile } from './map-file.ts'

const loadSegment = 1
const dynamicSegment = 2
const neededTag = 1n
const stringTableTag = 5n
const dynamicEntryBytes = 16

/** Returns the names in the DT_NEEDED entries of a 64-bit little-endian ELF file. */
export function neededLibraries(path: string): string[] {
  const { buffer, byteOffset, byteLength } = mapFile(path)
  const file = Buffer.from(buffer, byteOffset, byteLength)
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2) throw new Error(`${path} is no 64-bit ELF file`)
  const segments = segmentsOf(file)
  const dynamic = segments.find(({ kind }) => kind === dynamicSegment)
  if (!dynamic) return []
  const entries = Array.from({ length: dynamic.length / dynamicEntryBytes }, (_, index) => {
    const at = dynamic.from + index * dynamicEntryBytes
    return { tag: file.readBigInt64LE(at), value: unsigned64(file, at + 8) }
  })
  // The dynamic section gives the address of the string table in memory. The segment that contains this address gives
  // the table's position in the file.
  const address = entries.find(({ tag }) => tag === stringTableTag)?.value ?? 0
  const holder = segments.find(
    segment =>
      segment.kind === loadSegment &&
      address >= segment.address &&
      address < segment.address + segment.length,
  )
  if (!holder) throw new Error(`${path} has no string table`)
  const strings = address - holder.address + holder.from
  return entries
    .filter(({ tag }) => tag === neededTag)
    .map(({ value }) => file.toString('latin1', strings + value, file.indexOf(0, strings + value)))
}

function segmentsOf(file: Buffer) {
  const table = unsigned64(file, 32)
  const entryBytes = file.readUInt16LE(54)
  return Array.from({ length: file.readUInt16LE(56) }, (_, index) => {
    const at = table + index * entryBytes
    return {
      kind: file.readUInt32LE(at),
      from: unsigned64(file, at + 8),
      address: unsigned64(file, at + 16),
      length: unsigned64(file, at + 32),
    }
  })
}

function unsigned64(file: Buffer, at: number): number {
  return Number(file.readBigUInt64LE(at))
}

// Finds MP4 files whose edit lists only shift the start of a track or trim it. These files do not need the
// full edit list. To apply a full edit list, FFmpeg builds the index of every track a second time, which
// takes 60 MB for ten hours of audio.

import { readAt } from '../../base/read-at.ts'

type Box = { type: string; from: number; to: number }
/**
 * The state of a walk through the boxes of the file. The walk ends after `boxesLeft` more boxes, because a
 * hostile file may contain any number of boxes.
 */
type Walk = { file: number; boxesLeft: number }

const boxesMax = 10_000

/**
 * If the index is smaller than this, FFmpeg applies the full edit list, which also trims the last packet.
 */
const indexBytesMin = 4 * 1024 ** 2
/**
 * If an edit ends earlier than this before the end of its media, the edit removes sound, not only the
 * padding of the last packet.
 */
const paddingSecondsMax = 0.1
const parents = ['trak', 'edts', 'mdia']

export function shiftsOnly(file: number, bytesMin = indexBytesMin): boolean {
  const walk = { file, boxesLeft: boxesMax }
  const movie = find(boxes(walk, 0, Number.MAX_SAFE_INTEGER), 'moov')
  if (!movie || movie.to - movie.from < bytesMin) return false
  const children = [...boxes(walk, movie.from, movie.to)]
  const header = find(children, 'mvhd')
  if (!header) return false
  const { timescale } = clockOf(file, header)
  const plain = children.filter(({ type }) => type === 'trak').every(track => isPlain(walk, track, timescale))
  return plain && walk.boxesLeft > 0
}

function isPlain(walk: Walk, track: Box, movieTimescale: number): boolean {
  const inside = [...descend(walk, track)]
  const list = find(inside, 'elst')
  const header = find(inside, 'mdhd')
  if (!list || !header) return !list
  const edits = editsOf(walk.file, list)
  // A track that begins late starts with an empty edit.
  const [edit, ...more] = edits[0]?.start === -1 ? edits.slice(1) : edits
  if (!edit || more.length > 0) return false
  const media = clockOf(walk.file, header)
  const end = edit.start / media.timescale + edit.duration / movieTimescale
  return edit.duration === 0 || end >= media.duration / media.timescale - paddingSecondsMax
}

function editsOf(file: number, { from, to }: Box): { duration: number; start: number }[] {
  // An edit list that only shifts or trims is never longer than this.
  const bytes = readAt(file, from, Math.min(to - from, 1024))
  if (bytes.length < 8) return []
  const wide = bytes[0] === 1
  const size = wide ? 20 : 12
  const count = bytes.readUInt32BE(4)
  if (8 + count * size > bytes.length) return []
  return Array.from({ length: count }, (_, i) => {
    const at = 8 + i * size
    return wide
      ? { duration: Number(bytes.readBigUInt64BE(at)), start: Number(bytes.readBigInt64BE(at + 8)) }
      : { duration: bytes.readUInt32BE(at), start: bytes.readInt32BE(at + 4) }
  })
}

/**
 * Reads the timescale (ticks per second) and the duration from the box `mvhd` or `mdhd`. The fields that are
 * read here have the same places in both boxes.
 */
function clockOf(file: number, { from }: Box): { timescale: number; duration: number } {
  const bytes = readAt(file, from, 32)
  if (bytes.length < 32) return { timescale: 0, duration: 0 }
  return bytes[0] === 1
    ? { timescale: bytes.readUInt32BE(20), duration: Number(bytes.readBigUInt64BE(24)) }
    : { timescale: bytes.readUInt32BE(12), duration: bytes.readUInt32BE(16) }
}

function* descend(walk: Walk, box: Box): Generator<Box> {
  for (const child of boxes(walk, box.from, box.to)) {
    yield child
    if (parents.includes(child.type)) yield* descend(walk, child)
  }
}

function find(among: Iterable<Box>, type: string): Box | null {
  for (const box of among) if (box.type === type) return box
  return null
}

function* boxes(walk: Walk, from: number, to: number): Generator<Box> {
  for (let at = from; at + 8 <= to && walk.boxesLeft > 0; walk.boxesLeft -= 1) {
    const head = readAt(walk.file, at, 16)
    if (head.length < 8) return
    const short = head.readUInt32BE(0)
    const wide = short === 1 && head.length === 16
    const size = wide ? Number(head.readBigUInt64BE(8)) : short
    // Size 0 means that the box reaches to the end of the file, as the box with the media data may. No other
    // box follows, so the walk ends. Any other size that is smaller than the header of a box is invalid.
    if (size < (wide ? 16 : 8)) return
    yield { type: head.toString('latin1', 4, 8), from: at + (wide ? 16 : 8), to: Math.min(to, at + size) }
    at += size
  }
}

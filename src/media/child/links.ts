// Chained Ogg: several streams one after another in one file, as radio recorders write it. FFmpeg follows a chain only
// while sample rate and channels stay the same. Where it stops, this file finds the next link, which is opened as a
// separate input.

import { readSync } from 'node:fs'

const capture = 'OggS'
const beginsStream = 0x02
const headerBytes = 27
const blockBytes = 64 * 1024

/** Returns the offset of the first page after `from` that begins a stream. */
export function findLink(file: number, from: number): number | null {
  const block = Buffer.alloc(blockBytes)
  for (let at = from; ; at += blockBytes - headerBytes) {
    const bytes = block.subarray(0, readSync(file, block, 0, blockBytes, at))
    if (bytes.length < headerBytes) return null
    for (let page = bytes.indexOf(capture); page >= 0; page = bytes.indexOf(capture, page + 1)) {
      if (page + headerBytes <= bytes.length && (bytes[page + 5]! & beginsStream) !== 0) return at + page
    }
  }
}

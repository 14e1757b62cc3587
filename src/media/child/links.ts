// Chained Ogg: one media file contains several streams, one after another. Programs that record radio write
// these files. Each stream is a link of the chain. FFmpeg continues with the next link only if its sample
// rate and channels are the same. Otherwise `findLink` finds the next link, which is opened as a separate
// input.

import { readSync } from 'node:fs'

const capture = 'OggS'
const beginsStream = 0x02
const headerBytes = 27
const blockBytes = 64 * 1024

/**
 * Returns the offset of the first page at or after `from` that begins a stream. Returns null if there is no
 * page of this kind.
 */
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

// Decodes a Content-Encoding that was not asked for: some stores send files compressed, as they keep them.

import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

export type Sink = {
  push(bytes: Uint8Array): Promise<void>
  /** Resolves when everything has been written. */
  end(): Promise<void>
  abandon(): void
}

const decoders: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** The bytes do not decode as their Content-Encoding. */
export class Undecodable extends Error {}

/** A sink that takes encoded bytes and writes them decoded. Null for an unknown encoding. */
export function openDecoder(encoding: string, write: (bytes: Uint8Array) => Promise<void>): Sink | null {
  const name = encoding.trim().toLowerCase()
  if (name === '' || name === 'identity') return { push: write, end: async () => {}, abandon: () => {} }
  const decoder = decoders[name]?.()
  if (!decoder) return null
  const drained = drain(decoder, write)
  drained.catch(() => {})
  return {
    // A transform calls back when its output was read, so a compression bomb grows by one chunk at a time.
    push: bytes => Promise.race([written(decoder, bytes), drained]),
    end: () => {
      decoder.end()
      return drained
    },
    abandon: () => decoder.destroy(),
  }
}

async function drain(decoder: Transform, write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
  let writing = false
  try {
    for await (const bytes of decoder) {
      writing = true
      await write(bytes)
      writing = false
    }
  } catch (error) {
    throw writing ? error : new Undecodable()
  }
}

function written(decoder: Transform, bytes: Uint8Array): Promise<void> {
  return new Promise(resolve => decoder.write(bytes, () => resolve()))
}

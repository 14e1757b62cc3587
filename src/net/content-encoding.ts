// Decompresses the body of a response that has a Content-Encoding. steno requests a body without compression, but some
// object stores keep a file in compressed form, and send it in this form.

import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

export type Sink = {
  push(bytes: Uint8Array): Promise<void>
  /** Must be called after the last `push`. Resolves when all decoded bytes are written. */
  end(): Promise<void>
  /** Ends the decoding, and discards the bytes that are not decoded yet. */
  abandon(): void
}

const decoders: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** The error for a body whose bytes are not valid in its Content-Encoding. */
export class Undecodable extends Error {}

/**
 * Opens a sink that decodes bytes and passes the decoded bytes to `write`. Returns null if steno does not know the
 * encoding.
 */
export function openDecoder(encoding: string, write: (bytes: Uint8Array) => Promise<void>): Sink | null {
  const name = encoding.trim().toLowerCase()
  if (name === '' || name === 'identity') return { push: write, end: async () => {}, abandon: () => {} }
  const decoder = decoders[name]?.()
  if (!decoder) return null
  const drained = drain(decoder, write)
  drained.catch(() => {})
  return {
    // Backpressure: `push` resolves only when the decoded bytes have been taken from the decoder. So a compression bomb
    // cannot fill the memory.
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

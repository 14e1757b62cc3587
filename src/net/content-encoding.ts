// Decompresses the body of a response with a Content-Encoding. Some object stores send a file in compressed form,
// although steno requests no compression.

import type { Transform } from 'node:stream'
import { zlib } from '../base/late-modules.ts'
import { limits } from '../limits.ts'

export type Sink = {
  push(bytes: Uint8Array): Promise<void>
  /** Must be called after the last `push` of a complete body. Resolves when all decoded bytes are written. */
  end(): Promise<void>
  /** Ends the decoding, and discards the bytes that are not decoded yet. Resolves when the running write has ended. */
  abandon(): Promise<void>
}

/**
 * Creates a decoder for a body. `first` is the first byte of the body, which shows whether a `deflate` body has the
 * zlib header.
 */
type Decoder = (first: number) => Transform

/**
 * The codings that IANA has registered for HTTP, without `identity`. Null stands for a coding that steno cannot decode.
 */
const registered: Record<string, Decoder | null> = {
  gzip: () => zlib().createGunzip(),
  'x-gzip': () => zlib().createGunzip(),
  // In RFC 9110, `deflate` means the format of zlib. Some servers send the compressed bytes without the zlib header.
  // The body has this header if the lower half of its first byte is 8.
  deflate: first => ((first & 0x0f) === 8 ? zlib().createInflate() : zlib().createInflateRaw()),
  br: () => zlib().createBrotliDecompress(),
  zstd: () => zlib().createZstdDecompress(),
  compress: null,
  'x-compress': null,
  aes128gcm: null,
  dcb: null,
  dcz: null,
  exi: null,
  'pack200-gzip': null,
}

/** The error for a body whose bytes are not valid in its Content-Encoding. */
export class Undecodable extends Error {}

/**
 * Returns the codings in the header Content-Encoding, in the order in which the server applied them. As in browsers, an
 * unregistered name counts as no coding, because object stores return any name that the uploader of the file sent. For
 * example, newer AWS libraries send `aws-chunked`, although they store the file without a coding.
 */
export function codingsIn(header: string | undefined): string[] {
  const names = header?.split(',') ?? []
  return names.map(name => name.trim().toLowerCase()).filter(name => Object.hasOwn(registered, name))
}

/**
 * Opens a sink that decodes bytes and passes them to `write`. Returns null if steno cannot decode one of the codings,
 * or if there are too many. A body with several codings was compressed several times, and is decoded as often. `count`
 * limits the size of the compressed data: before a chunk is decoded by a coding, `count` gets the number of compressed
 * bytes that this coding has received so far. If `count` throws an error, the decoding ends.
 */
export function openDecoder(
  codings: string[],
  write: (bytes: Uint8Array) => Promise<void>,
  count: (compressedBytes: number) => void,
): Sink | null {
  const decoders = codings.map(coding => registered[coding]).filter(decoder => decoder != null)
  if (decoders.length < codings.length || codings.length > limits.contentCodingsMax) return null
  const plain: Sink = { push: write, end: async () => {}, abandon: async () => {} }
  // Each coding has its own counter. With several codings, a body of 500 bytes can decode to 64 MB of empty gzip
  // blocks, and these to an empty file. Limits on only the body and the file would not stop such a decoding.
  return decoders.reduce((next, create) => counting(decoding(next, create), count), plain)
}

function counting(sink: Sink, count: (bytes: number) => void): Sink {
  let pushed = 0
  return {
    ...sink,
    push: async bytes => {
      pushed += bytes.length
      count(pushed)
      await sink.push(bytes)
    },
  }
}

/** Returns a sink that decodes bytes and pushes them into `next`. */
function decoding(next: Sink, create: Decoder): Sink {
  let running: { decoder: Transform; drained: Promise<void> } | null = null
  const start = (first: number) => {
    const decoder = create(first)
    const drained = drain(decoder, next.push)
    drained.catch(() => {})
    return { decoder, drained }
  }
  return {
    // Backpressure: `push` waits until the output buffer of the decoder has space. A compression bomb can therefore not
    // fill the memory.
    push: bytes => {
      if (bytes[0] === undefined) return Promise.resolve()
      running ??= start(bytes[0])
      return Promise.race([written(running.decoder, bytes), running.drained])
    },
    end: async () => {
      running?.decoder.end()
      await running?.drained
      await next.end()
    },
    abandon: async () => {
      running?.decoder.destroy()
      await next.abandon()
      await running?.drained.catch(() => {})
    },
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

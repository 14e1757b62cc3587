// Joins the chunks of a stream.

import { openBreaks } from './breaks.ts'

/**
 * Returns all chunks as one array, or null if they have more than `bytesMax` bytes. Copies each chunk into a buffer as
 * soon as it arrives, because a list of 4 million chunks of one byte would need 400 MB.
 */
export async function joinChunks(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array | null> {
  const joined = new Bun.ArrayBufferSink()
  joined.start({ asUint8Array: true })
  const takeBreak = openBreaks()
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return null
    joined.write(chunk)
    await takeBreak()
  }
  return joined.end() as Uint8Array
}

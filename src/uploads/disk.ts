// Writes the bytes of an upload to the disk.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../limits.ts'

export type Received = { fileBytes: number; sha256: string }

export function uploadPath(dataDir: string, uploadId: string): string {
  return join(dataDir, 'uploads', uploadId)
}

/**
 * Streams a body into a new file, in constant memory. Returns null when the body exceeds the limit. Rejects when the
 * sender disconnects or the disk is full; the caller then removes the file.
 */
export async function receive(
  body: AsyncIterable<Uint8Array>,
  path: string,
  { bytesMax }: { bytesMax: number },
): Promise<Received | null> {
  const hasher = new Bun.CryptoHasher('sha256')
  const file = await open(path, 'wx', 0o600)
  // Of the ways to write in Bun, a sink buffers the least memory when the disk is slower than the network.
  const sink = Bun.file(path).writer({ highWaterMark: limits.uploadBufferBytes })
  let fileBytes = 0
  let isEnded = false
  try {
    for await (const chunk of body) {
      fileBytes += chunk.byteLength
      if (fileBytes > bytesMax) return null
      hasher.update(chunk)
      await sink.write(chunk)
      await sink.flush()
    }
    await sink.end()
    isEnded = true
    // A sink may end without an error although its last bytes were not written.
    const { size } = await file.stat()
    if (size !== fileBytes) throw new Error(`the disk took ${size} of ${fileBytes} bytes`)
    await file.datasync()
    return { fileBytes, sha256: hasher.digest('hex') }
  } finally {
    try {
      if (!isEnded) await sink.end()
    } catch {
      // The bytes that remain in the sink cannot be written either. The first error is already on its way to the
      // caller.
    }
    await file.close()
  }
}

/** Makes the names of files in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path)
  await folder.sync()
}

// The bytes of an upload on their way to the disk.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../limits.ts'

export type Received = { fileBytes: number; sha256: string }

export function uploadPath(dataDir: string, uploadId: string): string {
  return join(dataDir, 'uploads', uploadId)
}

/**
 * Streams a body into a new file, in constant memory. Gives null when the body is over the limit.
 * Rejects when the sender breaks off or the disk is full. The caller removes the file then.
 */
export async function receive(
  body: AsyncIterable<Uint8Array>,
  path: string,
  { bytesMax }: { bytesMax: number },
): Promise<Received | null> {
  const hasher = new Bun.CryptoHasher('sha256')
  const file = await open(path, 'wx', 0o600)
  // Of all ways to write, a sink piles up the least when the disk is slower than the network.
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
    // A sink that could not write its last bytes may end without an error.
    const { size } = await file.stat()
    if (size !== fileBytes) throw new Error(`the disk took ${size} of ${fileBytes} bytes`)
    await file.datasync()
    return { fileBytes, sha256: hasher.digest('hex') }
  } finally {
    try {
      if (!isEnded) await sink.end()
    } catch {
      // What the sink still holds does not fit either. The first error is on its way to the caller.
    }
    await file.close()
  }
}

/** Makes the names of files in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path)
  await folder.sync()
}

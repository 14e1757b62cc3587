// Writes the bytes of an upload to the disk.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../limits.ts'

export type Received = { fileBytes: number; sha256: string }

export function uploadPath(dataDir: string, uploadId: string): string {
  return join(dataDir, 'uploads', uploadId)
}

/**
 * Streams a body into a new file, and frees its chunks. The memory use does not depend on the size of the body. Returns
 * null when the body is larger than `bytesMax`. Rejects when the sender disconnects or the disk is full. In both cases
 * the calling function removes the file.
 */
export async function receive(
  body: AsyncIterable<Uint8Array>,
  path: string,
  { bytesMax }: { bytesMax: number },
): Promise<Received | null> {
  const hasher = new Bun.CryptoHasher('sha256')
  const file = await open(path, 'wx', 0o600)
  // When the disk is slower than the network, Bun's FileSink needs less memory than Bun's other ways to write
  // a file.
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
      free(chunk)
    }
    await sink.end()
    isEnded = true
    // `sink.end` may return without an error although the last bytes were not written.
    const { size } = await file.stat()
    if (size !== fileBytes) throw new Error(`the disk took ${size} of ${fileBytes} bytes`)
    await file.datasync()
    return { fileBytes, sha256: hasher.digest('hex') }
  } finally {
    try {
      if (!isEnded) await sink.end()
    } catch {
      // This error is ignored. The calling function gets the first error, which is the cause of this error.
    }
    await file.close()
  }
}

/**
 * Appends the chunks to a file of `from` bytes, and frees the chunks. Creates the file when the file is missing. Returns false when the
 * file would become larger than `bytesMax`. The chunks that arrived before an error, or before the limit, are on the
 * disk when this function ends.
 */
export async function append(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  { from, bytesMax }: { from: number; bytesMax: number },
): Promise<boolean> {
  const file = await open(path, 'a', 0o600)
  // The sink appends to the file, because the file is opened with the flag `a`.
  const sink = Bun.file(file.fd).writer({ highWaterMark: limits.uploadBufferBytes })
  let end = from
  try {
    for await (const chunk of chunks) {
      end += chunk.byteLength
      if (end > bytesMax) return false
      await sink.write(chunk)
      await sink.flush()
      free(chunk)
    }
    return true
  } finally {
    await sink.end()
    await file.datasync()
    await file.close()
  }
}

/**
 * Frees the memory of a chunk that is on the disk. Otherwise the chunks would wait for the garbage collector: during
 * an upload of 5 GB the process would grow by 30 to 45 MB instead of 5 MB. A chunk that shares its memory is kept.
 */
function free({ buffer, byteLength }: Uint8Array): void {
  if (byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Flushes a folder to the disk, so that the names of its files survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path)
  await folder.sync()
}

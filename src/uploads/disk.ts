// Writes the bytes of an upload to the disk.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { mediaFolders } from '../db/data-dir.ts'
import { limits } from '../limits.ts'

export type Received = { fileBytes: number; sha256: string }

export function uploadPath(dataDir: string, uploadId: string): string {
  return join(mediaFolders(dataDir).uploads, uploadId)
}

/**
 * Writes a request body to a new file while the body arrives, and frees the memory of each written chunk. Returns null
 * if the body is larger than `bytesMax`. Rejects if the sender disconnects or the disk is full. After null or a
 * rejection, the caller must remove the file.
 */
export async function receive(
  body: AsyncIterable<Uint8Array>,
  path: string,
  { bytesMax }: { bytesMax: number },
): Promise<Received | null> {
  const hasher = new Bun.CryptoHasher('sha256')
  await using file = await open(path, 'wx', 0o600)
  // The writer is a FileSink. If the disk is slower than the network, FileSink needs the least memory of all writers in
  // Bun.
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
    // `sink.end` may report no error although the last bytes were not written, so the file size is checked.
    const { size } = await file.stat()
    if (size !== fileBytes) throw diskError(`the disk took ${size} of ${fileBytes} bytes`)
    await file.datasync()
    return { fileBytes, sha256: hasher.digest('hex') }
  } finally {
    try {
      if (!isEnded) await sink.end()
    } catch {
      // The upload has already failed, so another error of `sink.end` is ignored.
    }
  }
}

/** Returns an error with the code EIO. The API answers it like a disk error of the operating system. */
function diskError(message: string): Error {
  return Object.assign(new Error(message), { code: 'EIO' })
}

/**
 * Appends chunks to a file that has `from` bytes. Creates a missing file. Returns false if the file would become larger
 * than `bytesMax`. Chunks that arrived before an error or this limit stay in the file.
 */
export async function append(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  { from, bytesMax }: { from: number; bytesMax: number },
): Promise<boolean> {
  await using file = await open(path, 'a', 0o600)
  // The file is open with the flag `a`, so the sink writes at the end of the file.
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
  }
}

/**
 * Frees the memory of a written chunk without waiting for the garbage collector. During an upload of 5 GB, the process
 * grows by 5 MB with this call, and by 30 to 45 MB without it. A chunk that is only a part of its buffer is not freed.
 */
function free({ buffer, byteLength }: Uint8Array): void {
  if (byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Flushes a folder to the disk. Without this flush, a power cut could lose the names of the files in the folder. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path)
  await folder.sync()
}

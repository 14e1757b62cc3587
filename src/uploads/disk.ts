// Bytes on their way to disk: into a draft, counted, capped, then put in place all at once.

import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { draftPath } from '../base/whole-file.ts'

export type Received = { draft: string; fileBytes: number; sha256: string }

const writeBytes = 1024 ** 2

export function uploadPath(dataDir: string, uploadId: string): string {
  return join(dataDir, 'uploads', uploadId)
}

/** Where an address is downloaded to; uploads stay where they came in. */
export function downloadPath(dataDir: string, jobId: string): string {
  return join(dataDir, 'media', jobId)
}

export function makeMediaFolders(dataDir: string): void {
  for (const folder of ['uploads', 'media'])
    mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o700 })
}

/**
 * Streams a body into a draft beside its final place, in constant memory. Null when it is over the limit.
 * Rejects when the sender breaks off or the disk takes no more. Either way no draft is left.
 */
export async function receive(
  body: ReadableStream<Uint8Array> | null,
  path: string,
  { bytesMax }: { bytesMax: number },
): Promise<Received | null> {
  const draft = draftPath(path)
  const hasher = new Bun.CryptoHasher('sha256')
  const file = await open(draft, 'wx', 0o600)
  // Of all ways to write, this one piles up the least when the disk is slower than the network.
  const sink = Bun.file(draft).writer({ highWaterMark: writeBytes })
  let fileBytes = 0
  let whole = false
  try {
    for await (const chunk of body ?? []) {
      fileBytes += chunk.byteLength
      if (fileBytes > bytesMax) return null
      hasher.update(chunk)
      await sink.write(chunk)
      await sink.flush()
    }
    await sink.end()
    // A sink that could not write its last bytes may end as if it had.
    const { size } = await file.stat()
    if (size !== fileBytes) throw new Error(`the disk took ${size} of ${fileBytes} bytes`)
    await file.datasync()
    whole = true
    return { draft, fileBytes, sha256: hasher.digest('hex') }
  } finally {
    try {
      if (!whole) await sink.end()
    } catch {
      // What the sink still holds finds no room either; why is already on its way up.
    }
    await file.close()
    if (!whole) rmSync(draft, { force: true })
  }
}

/** From draft to final: whoever reads sees the old bytes or the new ones. */
export function place(received: Received, path: string): void {
  renameSync(received.draft, path)
}

export function discard(received: Received): void {
  rmSync(received.draft, { force: true })
}

export function removeFile(path: string): void {
  rmSync(path, { force: true })
}

/** After a crash: drafts, and files that no row knows. Gives how many went. */
export function removeLeftovers(dataDir: string, isKnown: (path: string) => boolean): number {
  let removed = 0
  for (const folder of ['uploads', 'media']) {
    for (const name of readdirSync(join(dataDir, folder))) {
      const path = join(dataDir, folder, name)
      if (!isDraft(path) && isKnown(path)) continue
      rmSync(path, { force: true, recursive: true })
      removed += 1
    }
  }
  return removed
}

export function fileBytesOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null
}

function isDraft(path: string): boolean {
  return basename(path).includes('.')
}

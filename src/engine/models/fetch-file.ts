// Downloads one file. If the source allows it, a download resumes where the last attempt stopped. The download fails
// after `pullTriesMax` attempts in a row without new bytes, after `pullTriesMax` wrong hashes, or if the source refuses
// it with a status such as 404.

import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pause as waitFor } from '../../base/pause.ts'
import { limits } from '../../limits.ts'
import { SourceError, type Transfer } from '../../net/source.ts'

export type RemoteFile = {
  /** The name of the file, for error messages. */
  name: string
  size: number
  /** Starts the transfer of the file at byte `from`, or at byte 0 if the source cannot resume. */
  open: (from: number) => Promise<Transfer>
  isGood: (path: string) => Promise<boolean>
  signal: AbortSignal
  /** Waits for `ms` milliseconds before the next attempt. Rejects if the signal is aborted. */
  pause?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined
}

/**
 * Downloads a file to `path`. A file that is already at `path` was completed by an earlier attempt, which was
 * interrupted later. The hash of this file is checked too, because a power cut may have damaged the file.
 */
export async function fetchFile(
  path: string,
  remote: RemoteFile,
  onBytes: (bytes: number) => void,
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true })
  if (existsSync(path) && (await remote.isGood(path))) return onBytes(remote.size)
  const part = partOf(path)
  let wrong = 0
  let longest = sizeOf(part)
  for (let tries = 1; ; ) {
    try {
      await append(part, remote, onBytes)
    } catch (error) {
      remote.signal.throwIfAborted()
      if (!(error instanceof SourceError) || isFinal(error)) throw error
      const size = sizeOf(part)
      tries = size > longest ? 1 : tries + 1
      longest = Math.max(longest, size)
      if (tries > limits.pullTriesMax) throw error
      if (tries > 1) await pauseBefore(tries, remote)
      continue
    }
    if (await remote.isGood(part)) return renameSync(part, path)
    rmSync(part)
    longest = 0
    wrong++
    if (wrong === limits.pullTriesMax)
      throw new SourceError(`${remote.name} does not have the hash that its source gives`)
  }
}

/** Returns true if the source refuses the file with a status that a later attempt would get too, such as 404. */
function isFinal({ status }: SourceError): boolean {
  return status !== null && status < 500 && status !== 408 && status !== 429
}

/**
 * Waits before attempt number `tries`, which is 2 or more. After an attempt that got new bytes, this number begins at 1
 * again. Each pause is twice as long as the pause before.
 */
function pauseBefore(tries: number, { pause = waitFor, signal }: RemoteFile): Promise<void> {
  return pause(limits.pullRetryPauseMs * 2 ** (tries - 2), signal)
}

/** Returns the path of the incomplete download of the file at `path`. */
export function partOf(path: string): string {
  return `${path}.part`
}

/**
 * Downloads the missing bytes of the file, and appends them to `part`. Starts from the first byte if the source cannot
 * resume, or if `part` is too long. Throws an error if the file then has too few or too many bytes.
 */
async function append(
  part: string,
  { name, size, open }: RemoteFile,
  onBytes: (bytes: number) => void,
): Promise<void> {
  let from = sizeOf(part)
  if (from > size) {
    rmSync(part)
    from = 0
  }
  if (from === size && from > 0) return
  const { body, resumed } = await open(from)
  if (!resumed && from > 0) {
    rmSync(part)
    from = 0
  }
  const file = await openFile(part, 'a')
  let written = from
  try {
    for await (const bytes of asSourceErrors(name, body)) {
      written += bytes.length
      if (written > size) throw new SourceError(`${name} is longer than its source says`)
      await file.appendFile(bytes)
      onBytes(written)
    }
    // Flushes the complete file to the disk before it gets its final name. Without this flush, a power cut could leave
    // an empty file with the final name.
    if (written === size) await file.datasync()
  } finally {
    await file.close()
  }
  if (written < size) throw new SourceError(`the transfer of ${name} broke off`)
}

/** Converts each error of the transfer to a SourceError, which is retried. A disk error is not retried. */
async function* asSourceErrors(name: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw error instanceof SourceError ? error : new SourceError(`the transfer of ${name} broke off`)
  }
}

export function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0
}

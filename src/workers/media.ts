// Fetches the media of a job from the server. A transfer that was interrupted or has stalled continues later, even
// after the signed address has expired.

import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { diskRefusalOf } from '../base/disk-refusal.ts'
import { log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import { MediaLost, requestErrors } from '../errors.ts'
import { limits } from '../limits.ts'
import { getFrom, SourceError } from '../net/source.ts'
import type { Addresses } from './answers.ts'
import type { Held } from './requests.ts'
import type { Server } from './server.ts'

/**
 * Fetches the media of a job into a file in `folder`, and returns its path. Rejects with MediaLost if the server no
 * longer has the media. Also rejects if the signal is aborted or the disk refuses the file. Continues with a new
 * request after any other error, or if no byte arrives for `stallMs` milliseconds. Only tests set `stallMs`.
 */
export async function fetchMedia(
  server: Server,
  held: Held,
  addresses: Addresses,
  folder: string,
  signal: AbortSignal,
  stallMs: number = limits.workerStallMs,
): Promise<string> {
  const path = join(folder, 'media')
  let address = addresses.media
  let bytes = 0
  let logged = ''
  const file = openSync(path, 'wx', 0o600)
  try {
    for (let pauseMs: number = limits.workerRetryMs; ; ) {
      const before = bytes
      const stall = new AbortController()
      const timer = setTimeout(() => stall.abort(new Error('the transfer stalled')), stallMs)
      try {
        const { body, resumed, total } = await getFrom(server.addressOf(address), bytes, {
          signal: AbortSignal.any([signal, stall.signal]),
          headers: { 'Accept-Encoding': 'identity' },
        })
        if (!resumed) bytes = 0
        for await (const chunk of body) {
          bytes += writeAll(file, chunk, bytes)
          timer.refresh()
        }
        if (total === null || bytes >= total) return path
      } catch (error) {
        signal.throwIfAborted()
        if (isOfDisk(error)) throw error
        if (isGone(error)) throw new MediaLost()
        const reason = reasonOf(error)
        if (reason !== logged) log.warn('media not fetched yet', { job_id: held.job, reason })
        logged = reason
      } finally {
        clearTimeout(timer)
      }
      if (bytes > before) pauseMs = limits.workerRetryMs
      await wait(pauseMs, undefined, { signal })
      pauseMs = Math.min(2 * pauseMs, limits.workerRetryMsMax)
      const answer = await server.ask('addresses', held).catch(() => null)
      if (answer?.kind === 'addresses') address = answer.addresses.media
    }
  } finally {
    closeSync(file)
  }
}

/**
 * Writes a chunk to the file at `position`. The write is synchronous: asynchronous writes of 64 KB chunks need twice
 * the CPU time and halve the speed. Other events are handled between two chunks.
 */
function writeAll(file: number, chunk: Uint8Array, position: number): number {
  let written = 0
  while (written < chunk.length)
    written += writeSync(file, chunk, written, chunk.length - written, position + written)
  return written
}

/**
 * Returns true if the server answered that it no longer has the media. A status 404 does not count, because a proxy may
 * send it while the server is down.
 */
function isGone(error: unknown): boolean {
  return error instanceof SourceError && error.status === requestErrors.GONE.status
}

/** Returns true for an error of the local disk, such as ENOSPC. */
function isOfDisk(error: unknown): boolean {
  return !(error instanceof SourceError) && diskRefusalOf(error) !== null
}

// Downloads a file as a stream, with a maximum size. A retry continues an interrupted download, or starts it again. The
// file gets its final name only when it is complete.

import { type FileHandle, open, rename } from 'node:fs/promises'
import { pause as waitFor } from '../base/pause.ts'
import { Draft } from '../base/whole-file.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { causes } from './causes.ts'
import { attempt } from './download-attempt.ts'
import type { DownloadOptions, Progress } from './download-state.ts'

/**
 * Downloads the file at the URL `address` to the path `path`. Throws a JobFailure that names the cause if the download
 * fails. Throws the reason of the signal if it is aborted.
 */
export async function download(
  address: string,
  path: string,
  options: DownloadOptions,
): Promise<{ bytes: number }> {
  options.signal.throwIfAborted()
  using draft = new Draft(path)
  const bytes = await fetchInto(draft.path, address, options)
  options.signal.throwIfAborted()
  await rename(draft.path, path)
  return { bytes }
}

/**
 * Downloads into the file at `path`, and flushes the file to the disk. Unlike the flush in `Draft.place()`, this flush
 * does not block the event loop.
 */
async function fetchInto(path: string, address: string, options: DownloadOptions): Promise<number> {
  const file = await open(path, 'wx', 0o600)
  try {
    const bytes = await fill(file, address, options)
    await file.datasync()
    return bytes
  } finally {
    await file.close()
  }
}

async function fill(file: FileHandle, address: string, options: DownloadOptions): Promise<number> {
  const { signal, pause = waitFor } = options
  const progress: Progress = {
    bytes: 0,
    total: null,
    version: null,
    begun: false,
    compressed: false,
    receivedBytes: 0,
    receivedMs: 0,
  }
  let furthest = 0
  let fruitless = 0
  for (;;) {
    const end = await attempt(file, address, progress, options)
    if (end === 'complete') return progress.bytes
    // An attempt with a compressed body decodes the body from its first byte again. It counts as an attempt without
    // progress, even if it writes more bytes than the attempt before. The download fails after `downloadTriesMax` such
    // attempts in a row. Otherwise, a server could make each attempt a little longer, and steno would decode for hours:
    // a small body can decode to several GB.
    const further = !progress.compressed && progress.bytes >= furthest + limits.downloadFurtherBytes
    furthest = Math.max(furthest, progress.bytes)
    fruitless = further ? 0 : fruitless + 1
    if (fruitless >= limits.downloadTriesMax) {
      throw new JobFailure('DOWNLOAD_FAILED', end === 'stalled' ? causes.stalled : causes.interrupted)
    }
    await pause(limits.downloadRetryPauseMs * 2 ** fruitless, signal)
  }
}

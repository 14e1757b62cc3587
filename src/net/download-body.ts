// Appends the body of a response to the file of a download, with limits on the size and the average rate.

import type { FileHandle } from 'node:fs/promises'
import { formatSize } from '../base/units.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { BodyEnd } from './answer-body.ts'
import { causes } from './causes.ts'
import { openDecoder, Undecodable } from './content-encoding.ts'
import type { DownloadOptions, Progress } from './download-state.ts'
import type { Answer } from './exchange.ts'
import { codingsOf } from './file-headers.ts'
import { openPageFilter, passEverything } from './page.ts'

export async function store(
  file: FileHandle,
  answer: Answer,
  progress: Progress,
  { bytesMax, stallMs = limits.downloadStallMs, now = () => performance.now(), onProgress }: DownloadOptions,
): Promise<BodyEnd> {
  const begunMs = now() - progress.receivedMs
  const write = async (bytes: Uint8Array) => {
    if (progress.bytes + bytes.length > bytesMax) throw tooLarge(bytesMax)
    await writeAll(file, bytes, progress.bytes)
    progress.bytes += bytes.length
    progress.receivedBytes += bytes.length
    progress.receivedMs = now() - begunMs
    if (isTooSlow(progress)) throw new JobFailure('DOWNLOAD_FAILED', causes.stalled)
    onProgress?.(progress.bytes, progress.total)
  }
  const filter = progress.bytes === 0 ? openPageFilter(answer, write) : passEverything(write)
  const compressedMax = bytesMax * limits.compressedRatioMax + limits.compressedBytesMore
  const decoder = openDecoder(codingsOf(answer), filter.push, compressedBytes => {
    if (compressedBytes > compressedMax) throw tooLarge(bytesMax)
  })
  if (!decoder) throw new JobFailure('URL_NOT_ACCESSIBLE', causes.encoding)
  try {
    const end = await answer.read(decoder.push, { stallMs, bytesMin: limits.downloadStallBytesMin })
    if (end !== 'complete') {
      filter.refusePage()
      return end
    }
    await decoder.end()
    await filter.end()
  } catch (error) {
    throw error instanceof Undecodable ? new JobFailure('DOWNLOAD_FAILED', causes.undecodable) : error
  } finally {
    // Waits for the running write. If it ended after the next attempt has begun, it would damage the file of that
    // attempt.
    await decoder.abandon()
  }
  if (progress.bytes === 0) throw new JobFailure('URL_NOT_ACCESSIBLE', causes.empty)
  // A server may send less than the requested range. Another attempt then continues the download.
  return progress.total !== null && progress.bytes < progress.total ? 'interrupted' : 'complete'
}

/** Writes all bytes. On a nearly full disk, a write takes only a part of them, and the next write fails with ENOSPC. */
async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written)
    written += bytesWritten
  }
}

/**
 * Returns true if the average rate of the download is too low. Only `downloadsMax` downloads run at the same time, so
 * very slow servers could otherwise block all downloads for ever.
 */
function isTooSlow({ receivedBytes, receivedMs }: Progress): boolean {
  return (
    receivedMs >= limits.downloadRateAfterMs &&
    receivedBytes < (limits.downloadRateBytesMin * receivedMs) / 1000
  )
}

export function tooLarge(bytesMax: number): JobFailure {
  return new JobFailure('FILE_TOO_LARGE', `The file is larger than the limit of ${formatSize(bytesMax)}.`)
}

// Downloads a file as a stream, with a maximum size. If the download is interrupted, a retry continues it. The file
// gets its final name only when it is complete.

import { type FileHandle, open, rename } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { formatSize } from '../base/units.ts'
import { Draft } from '../base/whole-file.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { causeOf, causeOfStatus, causes, noFileCauses } from './causes.ts'
import { openDecoder, Undecodable } from './content-encoding.ts'
import { type Answer, type BodyEnd, type ConnectOptions, type FetchFailure, fetchGuarded } from './fetch.ts'
import { encodingOf, lengthOf, rangeOf, versionOf } from './file-headers.ts'
import { openPageFilter, passEverything } from './page.ts'
import { directAddress, isSignIn } from './share-links.ts'

export type DownloadOptions = ConnectOptions & {
  bytesMax: number
  signal: AbortSignal
  /**
   * An attempt to download has stalled if fewer than `limits.downloadStallBytesMin` bytes arrive in this time. The time
   * is in milliseconds.
   */
  stallMs?: number
  /** A monotonic clock: returns the time in milliseconds. Only tests replace it. */
  now?: () => number
  /**
   * Called after each chunk of the download. `bytes` is the number of bytes in the file, and `total` the size of the
   * complete file in bytes, or null if this size is not known.
   */
  onProgress?: (bytes: number, total: number | null) => void
  /** Waits for `ms` milliseconds before the next attempt. Rejects if the signal is aborted during this time. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

/**
 * Downloads the file at the URL `address` to the path `path`. Throws a JobFailure that names the cause of a failure. If
 * the signal is aborted, throws the reason of the signal.
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
 * Downloads into the file at `path`, and flushes the file to the disk without blocking the event loop. Draft.place()
 * also flushes a file, but it blocks the event loop.
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

/** The state of a download. All attempts share it. */
type Progress = {
  bytes: number
  /** The size of the complete file in bytes. Null if the size is not known. */
  total: number | null
  /**
   * The ETag or the Last-Modified header of the file. The next attempt continues the download only if the server still
   * sends the same value. Null if the response has neither of these headers.
   */
  version: string | null
  /** True after the first response with a successful status. */
  begun: boolean
  /**
   * `receivedBytes` is the number of bytes that all attempts together have received. `receivedMs` is the time for which
   * all attempts together have read, in milliseconds.
   */
  receivedBytes: number
  receivedMs: number
}

async function fill(file: FileHandle, address: string, options: DownloadOptions): Promise<number> {
  const { signal, pause = (ms, stop) => wait(ms, undefined, { signal: stop }) } = options
  const progress: Progress = {
    bytes: 0,
    total: null,
    version: null,
    begun: false,
    receivedBytes: 0,
    receivedMs: 0,
  }
  let furthest = 0
  let fruitless = 0
  for (;;) {
    const end = await attempt(file, address, progress, options)
    if (end === 'complete') return progress.bytes
    const further = progress.bytes >= furthest + limits.downloadFurtherBytes
    furthest = Math.max(furthest, progress.bytes)
    fruitless = further ? 0 : fruitless + 1
    if (fruitless >= limits.downloadTriesMax) {
      throw new JobFailure('DOWNLOAD_FAILED', end === 'stalled' ? causes.stalled : causes.interrupted)
    }
    await pause(limits.downloadRetryPauseMs * 2 ** fruitless, signal).catch(error => {
      signal.throwIfAborted()
      throw error
    })
  }
}

/**
 * Sends one request for the whole file, or for the part that is still missing. Throws an error if a retry cannot
 * succeed.
 */
async function attempt(
  file: FileHandle,
  address: string,
  progress: Progress,
  options: DownloadOptions,
): Promise<BodyEnd> {
  const resume = progress.version !== null && progress.bytes > 0
  const answer = await fetchGuarded(
    address,
    {
      method: 'GET',
      headers: {
        'User-Agent': 'steno',
        ...(resume ? { Range: `bytes=${progress.bytes}-`, 'If-Range': progress.version ?? '' } : {}),
      },
      redirectsMax: limits.mediaRedirectsMax,
      rewrite: fileAddress,
    },
    options,
    options.signal,
  )
  if (answer.kind !== 'answer') return failed(answer, progress)
  try {
    if (answer.status < 200 || answer.status > 299) return await refused(answer, file, progress, resume)
    if (resume && answer.status === 206) {
      if (!continues(answer, progress)) return await startOver(file, progress)
    } else {
      if (answer.status === 206 && rangeOf(answer)?.start !== 0)
        return failed({ kind: 'broken-answer' }, progress)
      await startOver(file, progress)
      learn(answer, progress)
    }
    if (progress.total !== null && progress.total > options.bytesMax) throw tooLarge(options.bytesMax)
    return await store(file, answer, progress, options)
  } finally {
    answer.close()
  }
}

/**
 * Returns the direct URL of the file. Throws a JobFailure if the URL is a share link that leads to no file. No request
 * is sent.
 */
function fileAddress(url: URL): URL {
  const direct = directAddress(url)
  if (typeof direct === 'string') throw new JobFailure('URL_NOT_ACCESSIBLE', noFileCauses[direct])
  return direct
}

function failed(failure: FetchFailure, progress: Progress): BodyEnd {
  if (progress.begun) return 'interrupted'
  throw new JobFailure('URL_NOT_ACCESSIBLE', causeOf(failure))
}

/**
 * Handles a response with an error status. If the download has already begun, returns a result that causes a retry.
 * Otherwise throws a JobFailure.
 */
async function refused(
  answer: Answer,
  file: FileHandle,
  progress: Progress,
  resume: boolean,
): Promise<BodyEnd> {
  const { status } = answer
  const closed = status === 401 || status === 403
  const cause = closed && isSignIn(answer.url) ? causes.signIn : causeOfStatus(status)
  if (!progress.begun) throw new JobFailure('URL_NOT_ACCESSIBLE', cause)
  if (resume && status === 416) return startOver(file, progress)
  if (status >= 500 || status === 408 || status === 429) return 'interrupted'
  throw new JobFailure('DOWNLOAD_FAILED', `${causes.interrupted} ${cause}`)
}

/**
 * Returns true if the response contains the missing part of the file, and if the file has not changed since the last
 * attempt.
 */
function continues(answer: Answer, progress: Progress): boolean {
  const range = rangeOf(answer)
  return (
    range?.start === progress.bytes &&
    range.total === progress.total &&
    versionOf(answer) === progress.version &&
    encodingOf(answer) === ''
  )
}

async function startOver(file: FileHandle, progress: Progress): Promise<BodyEnd> {
  progress.bytes = 0
  progress.version = null
  await file.truncate(0)
  return 'interrupted'
}

function learn(answer: Answer, progress: Progress): void {
  const encoded = encodingOf(answer) !== ''
  progress.begun = true
  // If the body of the response is compressed, `total` is null, because the length of the compressed body is not the
  // length of the file. `version` is also null, because the end of a compressed body cannot be decoded without its
  // start. The next attempt then begins at the start of the file.
  progress.total = encoded ? null : (rangeOf(answer)?.total ?? lengthOf(answer))
  progress.version = encoded ? null : versionOf(answer)
}

/** Appends the body of the response to the file. */
async function store(
  file: FileHandle,
  answer: Answer,
  progress: Progress,
  { bytesMax, stallMs = limits.downloadStallMs, now = () => performance.now(), onProgress }: DownloadOptions,
): Promise<BodyEnd> {
  const begunMs = now() - progress.receivedMs
  const write = async (bytes: Uint8Array) => {
    if (progress.bytes + bytes.length > bytesMax) throw tooLarge(bytesMax)
    const { bytesWritten } = await file.write(bytes, 0, bytes.length, progress.bytes)
    if (bytesWritten < bytes.length) throw new Error('the disk took only a part of the download')
    progress.bytes += bytes.length
    progress.receivedBytes += bytes.length
    progress.receivedMs = now() - begunMs
    if (isTooSlow(progress)) throw new JobFailure('DOWNLOAD_FAILED', causes.stalled)
    onProgress?.(progress.bytes, progress.total)
  }
  const filter = progress.bytes === 0 ? openPageFilter(answer, write) : passEverything(write)
  const decoder = openDecoder(encodingOf(answer), filter.push)
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
    decoder.abandon()
  }
  if (progress.bytes === 0) throw new JobFailure('URL_NOT_ACCESSIBLE', causes.empty)
  // A server may send less than the requested range. The download then continues with another attempt.
  return progress.total !== null && progress.bytes < progress.total ? 'interrupted' : 'complete'
}

/**
 * Returns true if the average rate of the download is too low. Only `downloadsMax` downloads run at the same time, so
 * without this check, a very slow server would block one of them for ever.
 */
function isTooSlow({ receivedBytes, receivedMs }: Progress): boolean {
  return (
    receivedMs >= limits.downloadRateAfterMs &&
    receivedBytes < (limits.downloadRateBytesMin * receivedMs) / 1000
  )
}

function tooLarge(bytesMax: number): JobFailure {
  return new JobFailure('FILE_TOO_LARGE', `The file is larger than the limit of ${formatSize(bytesMax)}.`)
}

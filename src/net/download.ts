// Downloads to a file: the download is streamed, limited in size, and resumed after an interruption. The
// file gets its final name only when it is complete.

import { type FileHandle, open, rename } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { formatSize } from '../base/units.ts'
import { Draft } from '../base/whole-file.ts'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import { causeOf, causeOfStatus, causes, noFileCauses } from './causes.ts'
import { openDecoder, Undecodable } from './content-encoding.ts'
import { type Answer, type BodyEnd, type ConnectOptions, type FetchFailure, fetchGuarded } from './fetch.ts'
import { openPageFilter, passEverything } from './page.ts'
import { directAddress, isSignIn } from './share-links.ts'

export type DownloadOptions = ConnectOptions & {
  bytesMax: number
  signal: AbortSignal
  /** The interval in which at least `limits.downloadStallBytesMin` bytes must arrive. */
  stallMs?: number
  /** A monotonic clock, in milliseconds. */
  now?: () => number
  /** Called after each chunk. `total` is the size of the file in bytes, or null if it is not known. */
  onProgress?: (bytes: number, total: number | null) => void
  /** Waits for `ms` milliseconds between two attempts. Rejects if the signal is aborted. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

/**
 * Downloads the file at `address` to `path`. Throws a JobFailure that names the cause. If the signal is
 * aborted, throws the reason of the signal.
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
 * Downloads into the file at `path`, and syncs the file asynchronously. Draft.place() also syncs the file, but would
 * block the event loop if the file were not synced yet.
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

/** State that all attempts of one download share. */
type Progress = {
  bytes: number
  /** The size of the file in bytes, or null if it is not known. */
  total: number | null
  /**
   * The ETag or Last-Modified of the file. Null if the answer has neither of these headers. A later attempt resumes
   * only if this value has not changed.
   */
  version: string | null
  /** True after the first successful answer. */
  begun: boolean
  /**
   * `receivedBytes` is the number of bytes that all attempts received. `receivedMs` is the time that all attempts spent
   * on reading.
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
 * Sends one request for the file, or for the part of the file that is still missing. Throws if a retry
 * cannot help.
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
 * Returns the direct address of the file. Throws for a share link that leads to no file; no request is sent
 * in this case.
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
 * Handles an answer with an error status. Returns a result that leads to a retry only if the download has
 * already begun; otherwise throws.
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
 * Returns true if the answer contains the missing part of the file, and the file has not changed since the last
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
  // Both values are null for an encoded body. The length of this body is not the length of the file, and a
  // part of this body cannot be decoded alone.
  progress.total = encoded ? null : (rangeOf(answer)?.total ?? lengthOf(answer))
  progress.version = encoded ? null : versionOf(answer)
}

/** Appends the body to the file. */
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
  // A server may send a shorter range than the request asked for.
  return progress.total !== null && progress.bytes < progress.total ? 'interrupted' : 'complete'
}

/**
 * Returns true if the average rate of the download is too low. Without this check a very slow server could
 * hold a download slot for ever.
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

function encodingOf(answer: Answer): string {
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() ?? ''
  return encoding === 'identity' ? '' : encoding
}

function lengthOf(answer: Answer): number | null {
  const length = answer.headers['content-length']
  return length === undefined ? null : Number(length)
}

function rangeOf(answer: Answer): { start: number; total: number | null } | null {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(answer.headers['content-range'] ?? '') ?? []
  if (start === undefined) return null
  return { start: Number(start), total: total === '*' ? null : Number(total) }
}

/**
 * Returns the value for the header If-Range: a strong ETag, or Last-Modified if there is no ETag. Returns
 * null if there is neither.
 */
function versionOf(answer: Answer): string | null {
  const { etag } = answer.headers
  if (etag !== undefined) return etag.startsWith('"') ? etag : null
  return answer.headers['last-modified'] ?? null
}

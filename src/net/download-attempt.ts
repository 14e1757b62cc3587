// One attempt to download a file: a request for the file, or for its missing part, and the check of the response.

import type { FileHandle } from 'node:fs/promises'
import { JobFailure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { BodyEnd } from './answer-body.ts'
import { causeOf, causeOfStatus, causes, noFileCauses } from './causes.ts'
import { store, tooLarge } from './download-body.ts'
import type { DownloadOptions, Progress } from './download-state.ts'
import type { Answer } from './exchange.ts'
import { type FetchFailure, fetchGuarded } from './fetch.ts'
import { codingsOf, hasVersion, lengthOf, rangeOf, versionOf } from './file-headers.ts'
import { directAddress } from './share-links.ts'
import { isSignIn } from './sign-in-pages.ts'

/**
 * Requests the file, or the part that is still missing. Returns `complete` if the file is complete. Returns
 * `interrupted` or `stalled` if the caller may try again. Throws an error if the download must end.
 */
export async function attempt(
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
 * Returns the direct URL of the file, without a request. Throws a JobFailure if the URL is a share link that leads to
 * no file.
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
 * Handles a response whose status is not 2xx. Returns `interrupted` if an earlier attempt has begun the file and a
 * retry can succeed. Otherwise throws a JobFailure.
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
 * Returns true if the response continues the file at the first missing byte. Returns false if the version or the size
 * of the file differs, the size is unknown, or the body is compressed. Also stores a size that was unknown before.
 */
function continues(answer: Answer, progress: Progress): boolean {
  const range = rangeOf(answer)
  const total = progress.total ?? range?.total ?? null
  // If the size of the file is unknown, the server may send only a part of the missing bytes, and the file would look
  // complete at the end of the response.
  if (total === null || range?.start !== progress.bytes || (range.total ?? total) !== total) return false
  if (!hasVersion(answer, progress.version) || codingsOf(answer).length > 0) return false
  progress.total = total
  return true
}

async function startOver(file: FileHandle, progress: Progress): Promise<BodyEnd> {
  progress.bytes = 0
  await file.truncate(0)
  return 'interrupted'
}

function learn(answer: Answer, progress: Progress): void {
  const compressed = codingsOf(answer).length > 0
  progress.begun = true
  progress.compressed = compressed
  // The length of a compressed body is not the length of the file. A later part of such a body cannot be decoded alone,
  // so the next attempt starts at the first byte.
  progress.total = compressed ? null : (rangeOf(answer)?.total ?? lengthOf(answer))
  progress.version = compressed ? null : versionOf(answer)
}

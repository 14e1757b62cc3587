// Waits for a job, and reads its transcript for an assistant.

import { runWithBreaks, type Steps } from '../../base/steps.ts'
import { formatClock } from '../../base/units.ts'
import { ApiError } from '../../errors.ts'
import { errorOf } from '../../jobs/events.ts'
import { findOwnJob, type Job } from '../../jobs/job.ts'
import { isTerminal } from '../../jobs/states.ts'
import { limits } from '../../limits.ts'
import { type ExportFormat, exporters } from '../../transcripts/exporters.ts'
import { findTranscriptInSteps } from '../../transcripts/find-transcript.ts'
import { exportOptions } from '../jobs/exports.ts'
import { inTurn } from '../jobs/transcript-turns.ts'
import type { Service } from '../service.ts'
import { cutPages } from './pages.ts'
import type { ToolContext } from './tool.ts'

/** The part of an MCP tool's context that this file uses. */
type Reading = Pick<ToolContext, 'recheck' | 'report' | 'signal'> & {
  service: Pick<Service, 'db' | 'live'>
  caller: { accountId: string }
}

/**
 * Waits until a job has ended, for at most `toolWaitMs`, and reports its progress. The wait also ends when the
 * assistant disconnects. The job then continues. `readTranscript` checks the credential after the wait.
 */
export async function waitForEnd(
  { service, caller, report, signal }: Omit<Reading, 'recheck'>,
  id: string,
): Promise<void> {
  const job = ownJob(service.db, caller.accountId, id)
  if (isTerminal(job.state)) return
  const stop = AbortSignal.any([signal, AbortSignal.timeout(limits.toolWaitMs)])
  let reported: number | null = null
  const tell = (job: Job) => {
    reported = nextProgress(reported, job)
    report(reported, job.progress ?? '').catch(() => {})
  }
  tell(job)
  const following = service.live.follow(job, () => tell(following.live.job))
  await service.live.ended(job, stop)
  following.leave()
}

/**
 * Returns the progress to report next, from 0 to 100. `last` is the progress that was reported last, or null. MCP
 * requires that the progress rises with each report.
 */
export function nextProgress(
  last: number | null,
  { state, progressPercent }: Pick<Job, 'state' | 'progressPercent'>,
): number {
  if (state === 'completed') return 100
  const percent = Math.min(progressPercent ?? 0, 99)
  return last === null ? percent : Math.max(percent, last + (100 - last) / 1000)
}

/**
 * Returns one page of a transcript, or a sentence about the state of an unfinished job. Rejects with an ApiError if the
 * job has failed, or if the job or the page does not exist. Also rejects if the credential was revoked while this call
 * waited for other calls that read transcripts.
 */
export function readTranscript(
  context: Pick<Reading, 'service' | 'caller' | 'recheck'>,
  id: string,
  wanted: { page: number; format: ExportFormat },
): Promise<string> {
  return inTurn(context.caller.accountId, () => {
    context.recheck()
    return runWithBreaks(writePage(context, id, wanted))
  })
}

function* writePage(
  { service, caller }: Pick<Reading, 'service' | 'caller'>,
  id: string,
  { page, format }: { page: number; format: ExportFormat },
): Steps<string> {
  const job = ownJob(service.db, caller.accountId, id)
  if (job.state === 'failed') {
    const { code, message } = errorOf(job)
    throw new ApiError('CONFLICT', `The transcription ${id} failed with ${code}: ${message}`)
  }
  const transcript = yield* findTranscriptInSteps(service.db, id)
  if (!transcript) {
    return `The transcription ${id} is ${job.status}: ${job.progress}. Call get_transcript with this id to wait for it.`
  }
  const options = { ...exportOptions({}), includeTimestamps: true }
  const pages = cutPages(yield* exporters[format].writeInSteps(transcript, options))
  const text = pages[page - 1]
  if (text === undefined) {
    throw new ApiError('INVALID_REQUEST', `There is no page ${page}; the last page is ${pages.length}.`)
  }
  const more =
    page < pages.length
      ? `\n(Page ${page} of ${pages.length}; call get_transcript with page ${page + 1}.)`
      : ''
  const length = formatClock((job.durationMs ?? 0) / 1000)
  return `Transcription ${id}: language ${transcript.language}, length ${length}, page ${page} of ${pages.length}.\n\n${text}${more}`
}

function ownJob(db: Parameters<typeof findOwnJob>[0], accountId: string, id: string): Job {
  const job = findOwnJob(db, accountId, id)
  if (job) return job
  throw new ApiError(
    'TRANSCRIPTION_NOT_FOUND',
    `There is no transcription ${id}; list_transcripts names all.`,
  )
}

// Waits for a job, and writes the job's transcript in pages for an assistant.

import type { Static } from '@sinclair/typebox'
import { ApiError } from '../../errors.ts'
import { errorOf } from '../../jobs/events.ts'
import { findOwnJob, type Job } from '../../jobs/job.ts'
import { isTerminal } from '../../jobs/states.ts'
import { limits } from '../../limits.ts'
import { type ExportFormat, exporters } from '../../transcripts/exporters.ts'
import { findTranscript } from '../../transcripts/store.ts'
import { exportOptions } from '../exports.ts'
import type { Service } from '../service.ts'
import type * as shapes from '../shapes/job.ts'
import type { ToolContext } from './tool.ts'

/** The part of a tool's context that the functions of this file use. */
type Reading = Pick<ToolContext, 'report' | 'signal'> & {
  service: Pick<Service, 'db' | 'live'>
  caller: { accountId: string }
}

/**
 * Waits until a job has ended, for at most `toolWaitMs`, and reports the progress of the job during this time. The wait
 * also ends when the assistant disconnects, but the job continues.
 */
export async function waitForEnd({ service, caller, report, signal }: Reading, id: string): Promise<void> {
  const job = ownJob(service.db, caller.accountId, id)
  if (isTerminal(job.state)) return
  const stop = AbortSignal.any([signal, AbortSignal.timeout(limits.toolWaitMs)])
  let reported = -1
  const tell = ({ progress, progressPercent }: Job) => {
    // MCP requires that each progress report has a higher number than the previous report.
    reported = Math.max(progressPercent ?? 0, reported + 0.01)
    report(reported, progress ?? '').catch(() => {})
  }
  tell(job)
  const following = service.live.follow(id, () => following && tell(following.live.job))
  await service.live.ended(id, stop)
  following?.leave()
}

/** Returns one page of a transcript. If the job has no transcript, returns a sentence about its state. */
export function readTranscript(
  { service, caller }: Pick<Reading, 'service' | 'caller'>,
  id: string,
  { page, format }: { page: number; format: ExportFormat },
): string {
  const job = ownJob(service.db, caller.accountId, id)
  if (job.state === 'failed') {
    const { code, message } = errorOf(job)
    throw new ApiError('CONFLICT', `The transcription ${id} failed with ${code}: ${message}`)
  }
  const transcript = findTranscript(service.db, id)
  if (!transcript) {
    return `The transcription ${id} is ${job.state}: ${job.progress}. Call get_transcript with this id to wait for it.`
  }
  const options = { ...exportOptions({}), includeTimestamps: true }
  const pages = cutPages(exporters[format].write(transcript, options))
  const text = pages[page - 1]
  if (text === undefined) {
    throw new ApiError('INVALID_REQUEST', `There is no page ${page}; the last page is ${pages.length}.`)
  }
  const more =
    page < pages.length
      ? `\n(Page ${page} of ${pages.length}; call get_transcript with page ${page + 1}.)`
      : ''
  const length = clock((job.durationMs ?? 0) / 1000)
  return `Transcription ${id}: language ${transcript.language}, length ${length}, page ${page} of ${pages.length}.\n\n${text}${more}`
}

/**
 * Divides a text into pages of at most `toolPageCharacters`. A page ends at the end of a line. If one line is longer
 * than a page, the page ends at a space. If there is no space, the page ends after `toolPageCharacters`.
 */
export function cutPages(text: string): string[] {
  const pages: string[] = []
  let rest = text
  while (rest.length > limits.toolPageCharacters) {
    const lineEnd = rest.lastIndexOf('\n', limits.toolPageCharacters - 1) + 1
    const space = rest.lastIndexOf(' ', limits.toolPageCharacters - 1) + 1
    // A page must not end between the two code units of one character (a surrogate pair).
    const half = /[\ud800-\udbff]/.test(rest[limits.toolPageCharacters - 1] ?? '') ? 1 : 0
    const end = lineEnd || space || limits.toolPageCharacters - half
    pages.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return [...pages, rest || '(No speech was found.)\n']
}

/** Describes a job in one line. */
export function describeJob(job: Static<typeof shapes.listedJob>): string {
  const facts = [
    job.status,
    job.progress_percent === null || job.status !== 'processing' ? null : `${job.progress_percent} %`,
    job.error ? `${job.error.code}: ${job.error.message}` : null,
    job.audio_duration_seconds === null ? null : `length ${clock(job.audio_duration_seconds)}`,
    job.language === null ? null : `language ${job.language}`,
    job.source_url === undefined ? null : `from ${job.source_url}`,
    job.created_at,
  ]
  return `${job.id} ${facts.filter(fact => fact !== null).join(', ')}`
}

/** Formats seconds, for example as `1:02:03` or `2:03`. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const rest = String(whole % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}

function ownJob(db: Parameters<typeof findOwnJob>[0], accountId: string, id: string): Job {
  const job = findOwnJob(db, accountId, id)
  if (job) return job
  throw new ApiError(
    'TRANSCRIPTION_NOT_FOUND',
    `There is no transcription ${id}; list_transcripts names all.`,
  )
}

// Converts a job to the JSON of the API.

import type { Static } from '@sinclair/typebox'
import { wholeSeconds } from '../../accounts/price.ts'
import { withoutPassword } from '../../base/visible.ts'
import { errorOf } from '../../jobs/events.ts'
import { costCentsOf, type Job } from '../../jobs/job.ts'
import type * as shapes from '../shapes/job.ts'

export function listedJob(job: Job): Static<typeof shapes.listedJob> {
  return {
    id: job.id,
    status: job.status,
    audio_duration_seconds: job.durationMs === null ? null : wholeSeconds(job.durationMs),
    file_size_bytes: job.fileBytes,
    language: job.language,
    diarize: job.diarize,
    speaker_count: job.speakerCount,
    name_speakers: job.nameSpeakers,
    align: job.align,
    channels: job.splitChannels ? 'split' : 'mix',
    metadata: job.metadata,
    cost_cents: costCentsOf(job),
    filename: job.filename,
    ...(job.sourceUrl === null ? {} : { source_url: withoutPassword(job.sourceUrl) }),
    progress: job.progress,
    progress_percent: job.progressPercent,
    created_at: timestamp(job.createdAt),
    started_at: job.startedAt === null ? null : timestamp(job.startedAt),
    completed_at: job.completedAt === null ? null : timestamp(job.completedAt),
    edited_at: job.editedAt === null ? null : timestamp(job.editedAt),
    ...(job.errorCode === null ? {} : { error: errorOf(job) }),
  }
}

/**
 * Returns the JSON of a job. `resultJson` is the JSON of its transcript, or null. This function inserts `resultJson` as
 * text, because parsing a long transcript is slow.
 */
export function jobJson(job: Job, resultJson: string | null): string {
  const listed = JSON.stringify(listedJob(job))
  return resultJson === null ? listed : `${listed.slice(0, -1)},"result":${resultJson}}`
}

export function timestamp(ms: number): string {
  return new Date(ms).toISOString()
}

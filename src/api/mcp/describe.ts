// Describes a job in a line of text for an assistant, and names its recording.

import type { Static } from '@sinclair/typebox'
import { formatClock } from '../../base/units.ts'
import type * as shapes from '../shapes/job.ts'

/** Describes a job in one line. */
export function describeJob(job: Static<typeof shapes.listedJob>): string {
  const facts = [
    job.status,
    job.progress_percent === null || job.status !== 'processing' ? null : `${job.progress_percent} %`,
    job.error ? `${job.error.code}: ${job.error.message}` : null,
    job.audio_duration_seconds === null ? null : `length ${formatClock(job.audio_duration_seconds)}`,
    job.language === null ? null : `language ${job.language}`,
    `from ${sourceOf(job)}`,
    job.created_at,
  ]
  return `${job.id} ${facts.filter(fact => fact !== null).join(', ')}`
}

type Source = Pick<Static<typeof shapes.listedJob>, 'filename' | 'source_url'>

/**
 * Returns the file name of a recording, or else its web address. Returns a fixed text if the job has neither: a file
 * that was sent in a form may have an empty name.
 */
export function sourceOf({ filename, source_url }: Source): string {
  return filename || source_url || 'a recording'
}

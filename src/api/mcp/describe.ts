// Describes a job in a line of text for an assistant, names its recording, and formats times.

import type { Static } from '@sinclair/typebox'
import type * as shapes from '../shapes/job.ts'

/** Describes a job in one line. */
export function describeJob(job: Static<typeof shapes.listedJob>): string {
  const facts = [
    job.status,
    job.progress_percent === null || job.status !== 'processing' ? null : `${job.progress_percent} %`,
    job.error ? `${job.error.code}: ${job.error.message}` : null,
    job.audio_duration_seconds === null ? null : `length ${clock(job.audio_duration_seconds)}`,
    job.language === null ? null : `language ${job.language}`,
    `from ${sourceOf(job)}`,
    job.created_at,
  ]
  return `${job.id} ${facts.filter(fact => fact !== null).join(', ')}`
}

type Source = Pick<Static<typeof shapes.listedJob>, 'filename' | 'source_url'>

/** Names the file or the address of a recording. The name of a file that was sent in a form may be empty. */
export function sourceOf({ filename, source_url }: Source): string {
  return filename || source_url || 'a recording'
}

/** Formats seconds, for example as `1:02:03` or `2:03`. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const rest = String(whole % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}

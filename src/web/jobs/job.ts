// A job as the API returns it, the request that submits a job, and the displayed name of a job.

import { showDateTime } from '../base/format.ts'
import { ask } from '../base/net.ts'
import { words } from '../words.ts'

export type JobStatus = 'created' | 'downloading' | 'pending' | 'processing' | 'completed' | 'failed'

export type Job = {
  id: string
  status: JobStatus
  audio_duration_seconds: number | null
  language: string | null
  diarize: boolean
  speaker_count: number | null
  name_speakers: boolean
  channels: 'mix' | 'split'
  cost_cents: number | null
  /** Texts that were stored with the job. The web app stores the name of the recording under the key `name`. */
  metadata: Record<string, string> | null
  filename: string | null
  source_url?: string
  progress: string | null
  progress_percent?: number | null
  created_at: string
  started_at: string | null
  completed_at: string | null
  error?: { code: string; message: string }
}

const longestName = 255

/** The job options that the web app sends with POST /v1/transcribe. */
export type JobOptions = {
  language?: string
  diarize?: boolean
  speaker_count?: number
  prompt?: string
  vocabulary?: string[]
}

export type JobSource = { upload_id: string } | { url: string }

/**
 * Submits a job. A repeated request has the same idempotency key, so it submits no second job. For an uploaded file,
 * the key is the id of the upload, which stays the same after a reload.
 */
export function submitJob(source: JobSource, options: JobOptions, name: string): Promise<{ id: string }> {
  const body = { ...source, ...options, metadata: { name: name.slice(0, longestName) } }
  const idempotencyKey = 'upload_id' in source ? source.upload_id : newId()
  return ask('POST', '/v1/transcribe', { body, idempotencyKey })
}

/** Submits a job with a web address again. The request is the same as before. */
export async function submitAgain({ id }: Pick<Job, 'id'>): Promise<{ id: string }> {
  const body = await ask('GET', `/app/jobs/${id}/request`)
  return ask('POST', '/v1/transcribe', { body, idempotencyKey: newId() })
}

/** Returns a random id. `crypto.randomUUID` is missing on a page that has neither https nor the host localhost. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

export function isEnded({ status }: Pick<Job, 'status'>): boolean {
  return status === 'completed' || status === 'failed'
}

/**
 * Returns the displayed name of a job: its stored name, its file name, or the end of its web address. Otherwise, the
 * name contains the date of the job.
 */
export function nameOf({ metadata, filename, source_url: url, created_at: at }: Job): string {
  return metadata?.name || filename || (url && nameInUrl(url)) || words.jobs.unnamed(showDateTime(at))
}

/** Returns the name of a job without a file extension, for the names of saved files. */
export function baseNameOf(job: Job): string {
  return nameOf(job).replace(/\.[a-z0-9]{2,4}$/i, '')
}

export function nameInUrl(address: string): string {
  const url = URL.parse(address)
  if (!url) return address
  const last = url.pathname.split('/').filter(Boolean).at(-1)
  try {
    return last ? decodeURIComponent(last) : url.hostname
  } catch {
    return last ?? url.hostname
  }
}

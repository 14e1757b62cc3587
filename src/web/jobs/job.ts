// A job as the API describes it, and how the page names it.

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
  cost_cents: number | null
  /** Texts of the caller. The web app keeps the name of the recording there, as it is on the person's disk. */
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

/** What the API is asked to make of a recording. */
export type JobOptions = {
  language?: string
  diarize?: boolean
  speaker_count?: number
  prompt?: string
  vocabulary?: string[]
}

export type JobSource = { upload_id: string } | { url: string }

export function submitJob(source: JobSource, options: JobOptions, name: string): Promise<{ id: string }> {
  const metadata = { name: name.slice(0, longestName) }
  return ask('POST', '/v1/transcribe', { body: { ...source, ...options, metadata } })
}

export function isEnded({ status }: Pick<Job, 'status'>): boolean {
  return status === 'completed' || status === 'failed'
}

/** Returns the name of a job: the file's name, else the end of its address, else its date. */
export function nameOf({ metadata, filename, source_url: url, created_at: at }: Job): string {
  return metadata?.name || filename || (url && nameInUrl(url)) || words.jobs.unnamed(showDateTime(at))
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

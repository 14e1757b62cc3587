// The head of a job's page: its name, and what is known about it.

import { showDateTime, showDuration, showLanguage, showMoney } from '../base/format.ts'
import { askTagged } from '../base/net.ts'
import { type Job, nameOf } from '../jobs/job.ts'
import { words } from '../words.ts'
import type { Result } from './document.ts'

/** A job with its transcript. The tag changes with each edit. */
export type WholeJob = Job & { result?: Result; tag: string | null }

let early: { id: string; job: Promise<WholeJob | null> } | null = null

/** Asks for a job before the page knows who is signed in. The answer is used once, by `readJob`. */
export function readJobEarly(id: string): void {
  early = { id, job: ask(id, false).catch(() => null) }
}

export async function readJob(id: string): Promise<WholeJob> {
  const known = early?.id === id ? await early.job : null
  early = null
  return known ?? ask(id, true)
}

async function ask(id: string, waitsForSignIn: boolean): Promise<WholeJob> {
  const { answer, tag } = await askTagged<Omit<WholeJob, 'tag'>>('GET', `/v1/transcribe/${id}`, {
    waitsForSignIn,
  })
  return { ...answer, tag }
}

export function JobTitle({ job }: { job: Job }) {
  return (
    <>
      <p class="crumbs">
        <a href="/jobs">{words.jobs.title}</a>
      </p>
      <h1 dir="auto" tabIndex={-1}>
        {nameOf(job)}
      </h1>
    </>
  )
}

/** Returns what is known about a job, for the line below its name. */
export function factsOf(job: Job): string[] {
  return [
    showDateTime(job.created_at),
    ...(job.audio_duration_seconds === null ? [] : [showDuration(job.audio_duration_seconds)]),
    ...(job.language === null ? [] : [showLanguage(job.language)]),
    ...(job.cost_cents ? [showMoney(job.cost_cents)] : []),
  ]
}

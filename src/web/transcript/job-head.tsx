// The top of a job's page: the name of the job, and a line with facts about the job.

import { showClock, showDateTime, showLanguage, showMoney } from '../base/format.ts'
import { askTagged } from '../base/net.ts'
import { type Job, nameOf } from '../jobs/job.ts'
import { Icon } from '../parts/icon.tsx'
import { words } from '../words.ts'
import type { Result } from './document.ts'

/** A job with its transcript, if there is one. `tag` is the ETag of the transcript. The ETag changes with each edit. */
export type WholeJob = Job & { result?: Result; tag: string | null }

let early: { id: string; job: Promise<WholeJob | null> } | null = null

/**
 * Requests a job before it is known whether a person is signed in, so that the page opens faster. The first call of
 * `readJob` for the same job uses the response, unless it is an error.
 */
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

/** The top of the page: a link back to the list of jobs, the name of the job, and a line with facts about the job. */
export function JobTitle({ job }: { job: Job }) {
  return (
    <>
      <p class="crumbs">
        <a href="/jobs">
          <Icon name="back" /> {words.jobs.title}
        </a>
      </p>
      <h1 tabIndex={-1}>
        <bdi>{nameOf(job)}</bdi>
      </h1>
      <p class="hint">
        {factsOf(job).join(' · ')}
        {job.cost_cents ? <span class="unprinted"> · {showMoney(job.cost_cents)}</span> : null}
      </p>
    </>
  )
}

/** Returns the facts for the line below the name of a job: its date, the length of its recording and more. */
function factsOf(job: Job): string[] {
  return [
    showDateTime(job.created_at),
    ...(job.audio_duration_seconds === null ? [] : [showClock(job.audio_duration_seconds)]),
    ...(job.language === null ? [] : [showLanguage(job.language)]),
  ]
}

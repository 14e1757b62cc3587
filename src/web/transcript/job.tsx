// The page of one job: its progress, its transcript, or the reason why the job has failed.

import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { announcePage, go, keepFocusOnPage } from '../base/route.ts'
import { isEnded, nameOf, submitAgain } from '../jobs/job.ts'
import { deleteJob } from '../jobs/job-list.ts'
import { Shown, useLoaded } from '../parts/load.tsx'
import { tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { JobTitle, readJob, type WholeJob } from './job-head.tsx'
import { Running } from './running.tsx'
import { Transcript } from './transcript.tsx'

const text = words.job

export function JobPage({ id }: { id: string }) {
  const job = useLoaded(() => readJob(id), [id])
  const title = job.value.value && nameOf(job.value.value)
  useLayoutEffect(() => {
    if (title !== null) announcePage(title)
  }, [title])
  return (
    <main id="main" class="page job-page">
      <Shown of={job}>
        {value =>
          value.result ? (
            <Transcript job={value} result={value.result} />
          ) : isEnded(value) ? (
            <Failed job={value} />
          ) : (
            <Running job={value} onEnd={() => job.reload().then(keepFocusOnPage)} />
          )
        }
      </Shown>
    </main>
  )
}

function Failed({ job }: { job: WholeJob }) {
  const isBusy = useSignal(false)
  const { code = '', message = '' } = job.error ?? {}
  const again = async () => {
    if (isBusy.value) return
    isBusy.value = true
    await submitAgain(job).then(({ id }) => go(`/jobs/${id}`), tellFault)
    isBusy.value = false
  }
  return (
    <>
      <header class="job-head">
        <JobTitle job={job} />
      </header>
      <div class="empty">
        <p class="lead">{code === 'CANCELLED' ? words.jobs.wasCancelled : text.failed}</p>
        {code !== 'CANCELLED' && <p>{message}</p>}
        {words.advice[code] && <p>{words.advice[code]}</p>}
        <p class="hint">{text.costsNothing}</p>
        <div class="line">
          {job.source_url ? (
            <button type="button" class="main" aria-disabled={isBusy.value} onClick={again}>
              {words.tryAgain}
            </button>
          ) : (
            <a class="button main" href="/jobs">
              {text.chooseAgain}
            </a>
          )}
          <button
            type="button"
            onClick={() => {
              deleteJob(job)
              go('/jobs')
            }}
          >
            {text.remove}
          </button>
        </div>
      </div>
    </>
  )
}

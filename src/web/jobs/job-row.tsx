// The row of one job in the list of jobs.

import { showAgo, showDuration, showLanguage } from '../base/format.ts'
import { focusHeading } from '../base/route.ts'
import { Icon } from '../parts/icon.tsx'
import { words } from '../words.ts'
import { isEnded, type Job, nameOf } from './job.ts'
import { cancelJob, deleteJob } from './job-list.ts'
import { Status } from './status.tsx'

const text = words.jobs

export function JobRow({ job }: { job: Job }) {
  const name = nameOf(job)
  return (
    <li class={`job ${job.status}`}>
      <div class="about">
        <a href={`/jobs/${job.id}`}>
          <bdi>{name}</bdi>
        </a>
        <p class="hint">{factsOf(job).join(' · ')}</p>
      </div>
      <Status job={job} />
      {isEnded(job) ? (
        <button
          type="button"
          class="quiet icon"
          aria-label={text.remove(name)}
          onClick={event => deleteRow(event.currentTarget, job)}
        >
          <Icon name="bin" />
        </button>
      ) : (
        <button
          type="button"
          class="quiet icon"
          aria-label={text.cancel(name)}
          onClick={() => cancelJob(job)}
        >
          <Icon name="close" />
        </button>
      )}
    </li>
  )
}

/**
 * Deletes a job, whose row then disappears. Moves the focus from this row to the next row, or from the last row to the
 * previous one. If there is no other row, moves the focus to the heading.
 */
function deleteRow(button: HTMLElement, job: Job): void {
  const row = button.closest('li')
  const next = row?.nextElementSibling ?? row?.previousElementSibling
  deleteJob(job)
  const link = next?.querySelector('a')
  if (link) link.focus({ preventScroll: true })
  else focusHeading()
}

function factsOf(job: Job): string[] {
  return [
    showAgo(job.created_at),
    ...(job.audio_duration_seconds === null ? [] : [showDuration(job.audio_duration_seconds)]),
    ...(job.language === null ? [] : [showLanguage(job.language)]),
  ]
}

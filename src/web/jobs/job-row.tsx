// The row of one job in the list of jobs.

import { showAgo, showDuration, showLanguage } from '../base/format.ts'
import { Icon } from '../parts/icon.tsx'
import { words } from '../words.ts'
import { isEnded, type Job, nameOf } from './job.ts'
import { cancelJob, deleteJob } from './job-list.ts'

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
          onClick={() => deleteJob(job)}
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

export function Status({ job }: { job: Job }) {
  if (job.status === 'failed') {
    const { code = '', message = '' } = job.error ?? {}
    if (code === 'CANCELLED') return <p class="status hint">{text.wasCancelled}</p>
    return (
      <p class="status fault">
        {text.statuses.failed}: {message || words.advice[code]}
      </p>
    )
  }
  if (job.status === 'completed') {
    return (
      <p class="status done">
        <Icon name="check" />
        {text.statuses.completed}
      </p>
    )
  }
  return (
    <div class="status">
      <span>{job.status === 'processing' && job.progress ? job.progress : text.statuses[job.status]}</span>
      {job.status !== 'pending' && (
        <progress
          aria-label={text.progressOf(nameOf(job))}
          max={100}
          {...(job.progress_percent == null ? {} : { value: job.progress_percent })}
        />
      )}
    </div>
  )
}

function factsOf(job: Job): string[] {
  return [
    showAgo(job.created_at),
    ...(job.audio_duration_seconds === null ? [] : [showDuration(job.audio_duration_seconds)]),
    ...(job.language === null ? [] : [showLanguage(job.language)]),
  ]
}

// The state of a job in the list of jobs.

import { Icon } from '../parts/icon.tsx'
import { words } from '../words.ts'
import { type Job, nameOf } from './job.ts'

const text = words.jobs

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

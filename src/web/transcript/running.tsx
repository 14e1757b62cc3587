// The page of a job that has not ended. It shows the progress and the utterances recognised so far.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { showClock } from '../base/format.ts'
import { isEnded, type Job } from '../jobs/job.ts'
import { cancelJob } from '../jobs/job-list.ts'
import { words } from '../words.ts'
import { type LiveUtterance, listen } from './job-events.ts'
import { JobTitle } from './job-head.tsx'

const text = words.job

type RunningProps = { job: Job; onEnd: () => Promise<void> }

export function Running({ job: first, onEnd }: RunningProps) {
  const job = useSignal(first)
  const utterances = useSignal<LiveUtterance[]>([])
  useEffect(
    () =>
      listen(first.id, {
        onJob(next) {
          job.value = next
          if (isEnded(next)) void onEnd()
        },
        onUtterance: next => (utterances.value = merged(utterances.value, next)),
      }),
    [first.id],
  )
  const { status, progress, progress_percent: percent } = job.value
  return (
    <>
      <header class="job-head">
        <JobTitle job={job.value} />
      </header>
      <div class="running">
        {/* A screen reader reads each new state aloud. It does not read the progress, which changes every second. */}
        <p class="unseen" role="status">
          {words.jobs.statuses[status]}
        </p>
        <p class="lead">{status === 'processing' && progress ? progress : words.jobs.statuses[status]}</p>
        <progress aria-label={text.progress} max={100} {...(percent == null ? {} : { value: percent })} />
        <p class="hint">{text.staysSafe}</p>
        <button type="button" onClick={() => cancelJob(job.value).then(onEnd)}>
          {text.cancel}
        </button>
      </div>
      <p class="hint">
        {utterances.value.length === 0 && text.soon} {job.value.diarize && text.speakersLater}
      </p>
      {utterances.value.length > 0 && (
        <section class="text live" aria-label={text.soFar} lang={job.value.language ?? undefined}>
          <h2>{text.soFar}</h2>
          {utterances.value.map(utterance => (
            <div class="turn" key={utterance.index}>
              <div class="margin">
                <span class="time">{showClock(utterance.start)}</span>
              </div>
              <p dir="auto">{utterance.text}</p>
            </div>
          ))}
        </section>
      )}
    </>
  )
}

/**
 * Adds an utterance in the order of the transcript. It replaces a known utterance with the same index: a new stream
 * sends all utterances again.
 */
function merged(known: LiveUtterance[], added: LiveUtterance): LiveUtterance[] {
  return [...known.filter(({ index }) => index !== added.index), added].toSorted((a, b) => a.index - b.index)
}

// Receives the events of a job that has not ended.

import { isOnline } from '../base/connection.ts'
import { timing } from '../base/timing.ts'
import { isEnded, type Job } from '../jobs/job.ts'
import type { Utterance } from './document.ts'
import { readJob } from './job-head.tsx'

/** An utterance of a running job. `index` is its place in the transcript. */
export type LiveUtterance = Utterance & { index: number }

type Listener = { onJob: (job: Job) => void; onUtterance: (utterance: LiveUtterance) => void }

/**
 * Receives the events of a job until the returned function is called. The stream is closed while the page is hidden,
 * because a browser allows only a few connections to a server.
 */
export function listen(id: string, { onJob, onUtterance }: Listener): () => void {
  let source: EventSource | null = null
  const open = () => {
    source?.close()
    source = null
    if (document.hidden) return
    source = new EventSource(`/v1/transcribe/${id}/events`)
    source.addEventListener('job', event => {
      const job: Job = JSON.parse(event.data)
      if (isEnded(job)) source?.close()
      onJob(job)
    })
    // The browser also reports an error after the server has ended a stream, and then connects again. A second error
    // without a connection in between means that the server does not answer.
    let errors = 0
    source.onopen = () => {
      errors = 0
      isOnline.value = true
    }
    source.onerror = () => {
      errors += 1
      if (source?.readyState === EventSource.CLOSED) void openAgain(source)
      else if (errors > 1) isOnline.value = false
    }
    source.addEventListener('segment', event => onUtterance(JSON.parse(event.data)))
  }
  // EventSource does not connect again after the server has refused the stream, for example because the session has
  // ended. `readJob` then waits until the person has signed in again. The stream is opened again if the job goes on.
  const openAgain = async (refused: EventSource) => {
    const job = await readJob(id).catch(() => null)
    if (source !== refused) return
    if (job) onJob(job)
    if (job && isEnded(job)) return
    setTimeout(() => {
      if (source === refused) open()
    }, timing.listEveryMs)
  }
  open()
  document.addEventListener('visibilitychange', open)
  return () => {
    document.removeEventListener('visibilitychange', open)
    source?.close()
    source = null
  }
}

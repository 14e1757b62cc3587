// The server-sent events of one job. Further events wait until the client has read the previous ones, so a slow client
// does not fill the memory. A slow client later gets the missing utterances, but only the latest state of the job.

import { errorFields, log } from '../../base/log.ts'
import type { Job } from '../../jobs/job.ts'
import type { LiveJobs } from '../../jobs/live.ts'
import { limits } from '../../limits.ts'
import { Events, encode } from './job-events.ts'

type Options = {
  /** A signal that is aborted when the client disconnects. */
  signal: AbortSignal
  /** The number of utterances that the client got from earlier event streams of this job. */
  utterancesSent: number
  /**
   * Called before events are written. Returns false if the caller may no longer read the job, for example with a
   * revoked key.
   */
  isAdmitted: () => boolean
  /** Called once: when the event stream ends or fails, or when the client disconnects. */
  onEnd: () => void
  aliveEveryMs?: number
}

/**
 * Returns a stream of the job's events. It ends after the final state of the job, when the server stops, or when the
 * caller may no longer read the job. If the database cannot be read, the stream fails, which closes the connection.
 */
export function openEventStream(
  live: LiveJobs,
  job: Job,
  { signal, utterancesSent, isAdmitted, onEnd, aliveEveryMs = limits.streamAliveMs }: Options,
): ReadableStream<Uint8Array> {
  let wake = () => {}
  const following = live.follow(job, () => wake())
  const events = new Events(following.live, utterancesSent)
  let hasEnded = false
  const end = () => {
    if (hasEnded) return
    hasEnded = true
    following.leave()
    wake()
    onEnd()
  }
  signal.addEventListener('abort', end)
  /**
   * Writes the events that the client lacks, or waits for the next event. After `aliveEveryMs` without an event, writes
   * a comment that keeps the connection open.
   */
  async function write(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const aliveAt = performance.now() + aliveEveryMs
    while (!hasEnded) {
      const isOpen = isAdmitted() && !live.isClosed
      const due = isOpen ? events.take() : []
      for (const event of due) controller.enqueue(event)
      if (!isOpen || events.areAllSent) {
        end()
        return controller.close()
      }
      if (due.length > 0) return
      const restMs = aliveAt - performance.now()
      if (restMs <= 0) return controller.enqueue(aliveComment)
      await sleep(restMs, awake => (wake = awake))
    }
  }
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    write(controller).catch(error => {
      log.error('event stream failed', { job_id: job.id, ...errorFields(error) })
      end()
      throw error
    })
  return new ReadableStream(
    { start: controller => controller.enqueue(retryHint), pull, cancel: end },
    new CountQueuingStrategy({ highWaterMark: 1 }),
  )
}
const retryHint = encode(`retry: ${limits.streamRetryMs}\n\n`)
const aliveComment = encode(': alive\n\n')

/** Calls `onWake` with a function `wake`. Then waits for `ms` milliseconds, or until `wake` is called. */
function sleep(ms: number, onWake: (wake: () => void) => void): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms)
    onWake(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

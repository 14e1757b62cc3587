// The server-sent events of one job. The stream writes an event only after the client has read the previous events, so
// events for a slow client do not fill the memory. When a slow client reads again, it gets the utterances that it lacks
// and the latest state of the job.

import type { Job } from '../jobs/job.ts'
import type { Following, LiveJobs } from '../jobs/live.ts'
import { isTerminal } from '../jobs/states.ts'
import { limits } from '../limits.ts'
import type { Utterance } from '../transcripts/transcript.ts'
import { listedJob } from './job-json.ts'

type Options = {
  /** A signal that is aborted when the client disconnects. */
  signal: AbortSignal
  /** The number of utterances that the client has received from earlier event streams of this job. */
  utterancesSent: number
  /**
   * Called before each write. Returns false if the caller may no longer read the job, for example because the caller's
   * key was revoked.
   */
  isAdmitted: () => boolean
  /** Called once: at the end of the event stream, or when the client disconnects. */
  onEnd: () => void
  aliveEveryMs?: number
}

/** The maximum number of utterances that are written before the client must read them. */
const eventsAtOnce = 100

/**
 * Returns a stream of the job's events, which ends after the end of the job. Returns null if the job does not exist.
 */
export function openEventStream(
  live: LiveJobs,
  jobId: string,
  { signal, utterancesSent, isAdmitted, onEnd, aliveEveryMs = limits.streamAliveMs }: Options,
): ReadableStream<Uint8Array> | null {
  let wake = () => {}
  const following = live.follow(jobId, () => wake())
  if (!following) return null
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
   * Writes the events that the client lacks. If the client lacks none, waits for the next event. After `aliveEveryMs`
   * without an event, writes a comment that keeps the connection open.
   */
  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
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
  return new ReadableStream(
    { start: controller => controller.enqueue(retryHint), pull, cancel: end },
    new CountQueuingStrategy({ highWaterMark: 1 }),
  )
}

/** The events of a job that one client has not received yet. */
class Events {
  readonly #live: Following['live']
  #utterancesSent: number
  #jobSent: Job | null = null

  constructor(live: Following['live'], utterancesSent: number) {
    this.#live = live
    this.#utterancesSent = utterancesSent
  }

  /** True if the final state of the job was sent. It is sent after all utterances. */
  get areAllSent(): boolean {
    return this.#jobSent !== null && isTerminal(this.#jobSent.state)
  }

  take(): Uint8Array[] {
    const { job, utterances } = this.#live
    const from = this.#utterancesSent
    const due = utterances.slice(from, from + eventsAtOnce).map((each, at) => segmentEvent(each, from + at))
    this.#utterancesSent += due.length
    if (this.#jobSent === job || this.#utterancesSent < utterances.length) return due
    this.#jobSent = job
    return [...due, jobEvent(job)]
  }
}

const encoder = new TextEncoder()
const encode = (text: string) => encoder.encode(text)
const retryHint = encode(`retry: ${limits.streamRetryMs}\n\n`)
const aliveComment = encode(': alive\n\n')

/** The encoded form of each event. An event is encoded once and used for all clients of a job. */
const encoded = new WeakMap<Job | Utterance, Uint8Array>()

function jobEvent(job: Job): Uint8Array {
  return once(job, () => `event: job\ndata: ${JSON.stringify(listedJob(job))}\n\n`)
}

/**
 * Encodes the event of an utterance. The id of the event is the number of utterances that the client has after this
 * event. When the client reconnects, it sends this id as Last-Event-ID, and the stream continues with the next
 * utterance.
 */
function segmentEvent(utterance: Utterance, index: number): Uint8Array {
  return once(
    utterance,
    () => `id: ${index + 1}\nevent: segment\ndata: ${JSON.stringify({ index, ...utterance })}\n\n`,
  )
}

function once(key: Job | Utterance, write: () => string): Uint8Array {
  const known = encoded.get(key) ?? encode(write())
  encoded.set(key, known)
  return known
}

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

// The server-sent events of one job. Events are written only when the client has read the earlier events, so a
// slow client costs no memory. A client that reads again gets the missing utterances and the latest state of
// the job.

import type { Job } from '../jobs/job.ts'
import type { Following, LiveJobs } from '../jobs/live.ts'
import { isTerminal } from '../jobs/states.ts'
import { limits } from '../limits.ts'
import type { Utterance } from '../transcripts/transcript.ts'
import { listedJob } from './job-json.ts'

type Options = {
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  /** The number of utterances that the client received from an earlier stream. */
  utterancesSent: number
  /**
   * Called before each write. Returns false when the caller has lost the access, for example by a revoked key.
   */
  isAdmitted: () => boolean
  /** Called once when the stream has ended or the client has disconnected. */
  onEnd: () => void
  aliveEveryMs?: number
}

/** The maximum number of utterances that are written before the stream waits for the client to read. */
const eventsAtOnce = 100

/**
 * Returns a stream of the job's events, or null when the job does not exist. The stream ends after the job has
 * ended.
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
   * Writes the events that the client lacks. Without such events, waits; writes a comment after `aliveEveryMs`.
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

/** The events of a job that were not yet written to one client. */
class Events {
  readonly #live: Following['live']
  #utterancesSent: number
  #jobSent: Job | null = null

  constructor(live: Following['live'], utterancesSent: number) {
    this.#live = live
    this.#utterancesSent = utterancesSent
  }

  /** True when the final state of the job was sent. All utterances are sent before the final state. */
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

/** A cache of encoded events, so that an event is encoded only once for all clients of a job. */
const encoded = new WeakMap<Job | Utterance, Uint8Array>()

function jobEvent(job: Job): Uint8Array {
  return once(job, () => `event: job\ndata: ${JSON.stringify(listedJob(job))}\n\n`)
}

/**
 * Encodes the event of an utterance. The event id is the number of utterances that the client then has. A
 * client that reconnects sends the id as Last-Event-ID, so that the stream continues after this utterance.
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

/** Waits for `ms` milliseconds. Passes a function to `onWake`; a call of the function ends the wait early. */
function sleep(ms: number, onWake: (wake: () => void) => void): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms)
    onWake(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

// The server-sent events of one job. The stream is written only as fast as the client reads it. A client that
// stops reading costs no memory, and later gets the utterances it lacks and the latest state of the job.

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
  /** Returns false when the caller may not read the job any more, for example when the key was revoked. */
  isAdmitted: () => boolean
  /** Called once, when the stream has ended or the client has disconnected. */
  onEnd: () => void
  aliveEveryMs?: number
}

/** Events that are written together. After them the stream waits until the client has read them. */
const eventsAtOnce = 100

/** Returns a stream that ends with the job, or null when there is no such job. */
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
  /** Writes the events that are due. Waits for one, and writes a comment when none comes. */
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

/** The events of a job that one client has not received. */
class Events {
  readonly #live: Following['live']
  #utterancesSent: number
  #jobSent: Job | null = null

  constructor(live: Following['live'], utterancesSent: number) {
    this.#live = live
    this.#utterancesSent = utterancesSent
  }

  /** True when the last state of the job was sent. All utterances are sent before it. */
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

/** The encoded events. A thousand clients of one job get the same bytes. */
const encoded = new WeakMap<Job | Utterance, Uint8Array>()

function jobEvent(job: Job): Uint8Array {
  return once(job, () => `event: job\ndata: ${JSON.stringify(listedJob(job))}\n\n`)
}

/** The event id is the number of utterances up to this one. A client sends it back as Last-Event-ID. */
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

/** Waits for `ms` milliseconds, or until the function that `onWake` receives is called. */
function sleep(ms: number, onWake: (wake: () => void) => void): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms)
    onWake(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

// Encodes the server-sent events of a job, and records which of them were sent to a client.

import type { Job } from '../../jobs/job.ts'
import type { Following } from '../../jobs/live.ts'
import { isTerminal } from '../../jobs/states.ts'
import type { Utterance } from '../../transcripts/transcript.ts'
import { listedJob } from './job-json.ts'

/** The maximum number of utterances that are written to the stream before the client reads again. */
const eventsAtOnce = 100

/** The events of a job that one client has not got yet. */
export class Events {
  readonly #live: Following['live']
  #utterancesSent: number
  #jobSent: Job | null = null

  constructor(live: Following['live'], utterancesSent: number) {
    this.#live = live
    this.#utterancesSent = utterancesSent
  }

  /** True if the last event was sent: the event with the job in its final state. */
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
export const encode = (text: string) => encoder.encode(text)

/** The encoded form of each event, which is shared by all clients of a job. */
const encoded = new WeakMap<Job | Utterance, Uint8Array>()

function jobEvent(job: Job): Uint8Array {
  return once(job, () => `event: job\ndata: ${JSON.stringify(listedJob(job))}\n\n`)
}

/**
 * Encodes the event of an utterance. The id of the event is the number of utterances that the client has after this
 * event. A client that reconnects sends this id as Last-Event-ID, and the stream continues with the next utterance.
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

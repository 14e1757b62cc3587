// The answers of the server to the requests of workers.

import type { TranscribeInput } from '../engine/request.ts'

/**
 * The input of the engine for a job, as the server sends it to a worker. `path` is left out, because the media file has
 * another path on each machine. `section` is left out, because a job always uses the whole recording.
 */
export type JobInput = Omit<TranscribeInput, 'path' | 'section'>

export type HelloAnswer =
  /** `pool` is null while the pool of the worker lacks its queues. The worker then asks for no jobs. */
  | { kind: 'welcome'; pool: string | null; leaseMs: number; stop: string[] }
  | { kind: 'refused'; message: string }

/**
 * Signed paths on the server, which expire after a short time: for fetching the media and the input of a job, and for
 * sending its result.
 */
export type Addresses = { media: string; input: string; result: string }

export type ClaimAnswer =
  /** `input` is null if it is too large for a message of NATS. The worker then fetches it over HTTP. */
  | { kind: 'yours'; fence: number; token: string; input: JobInput | null; addresses: Addresses }
  /**
   * The worker does not get the job now: another worker still holds it, or the machine of this worker has failed on it
   * and another worker should do it, or the server cannot answer yet. The worker then returns the message of the job to
   * JetStream, which delivers this message again after `afterMs` milliseconds, or after `workerRetryMsMax` without
   * `afterMs`. If another worker holds the job, `afterMs` is the time until the end of its lease.
   */
  | { kind: 'later'; afterMs?: number }
  /**
   * The job has ended or is no longer in the state `processing`, or the stream has a newer message of the job than the
   * message that the worker has received. In each case, the worker removes the received message from the stream.
   */
  | { kind: 'over' }
  | { kind: 'refused'; message: string }

/**
 * The answer to a progress report of a worker. A report may contain utterances of the transcript. `heard` is the number
 * of utterances of this job that the server has received since the worker claimed the job. The next report of the
 * worker starts with the utterance at this index.
 */
export type BeatAnswer = { kind: 'continue'; heard: number } | { kind: 'later' } | { kind: 'stop' }

/**
 * The answer to a result. After the answer `stored` or `refused`, the worker ends its work on the job. After `again`,
 * the worker returns the message of the job to JetStream, which delivers this message again to any worker. After
 * `later`, the worker sends the result again.
 */
export type ResultAnswer = { kind: 'stored' | 'refused' | 'again' | 'later' }

export type AddressesAnswer =
  | { kind: 'addresses'; addresses: Addresses }
  | { kind: 'later' }
  | { kind: 'stop' }

/** The answer to the request `models`. With `token`, the worker can download the server's models for a short time. */
export type ModelsAnswer = { kind: 'models'; token: string }

export type Answers = {
  hello: HelloAnswer
  claim: ClaimAnswer
  beat: BeatAnswer
  result: ResultAnswer
  addresses: AddressesAnswer
  models: ModelsAnswer
}

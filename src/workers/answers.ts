// The answers of the server to the requests of workers.

import type { TranscribeInput } from '../engine/request.ts'

/**
 * The input of the engine for a job, as the server sends it to a worker. `path` differs on each machine. `section` is
 * not needed, because a job always uses the whole recording.
 */
export type JobInput = Omit<TranscribeInput, 'path' | 'section'>

export type HelloAnswer =
  /**
   * `pool` is the name of the worker's pool (the workers with the same abilities). The server creates queues for each
   * pool in JetStream, from which the workers get their jobs. `pool` is null if the server failed to create them. The
   * worker then asks for no jobs until a later answer names the pool. `stop` has the ids of the jobs that the worker
   * must stop.
   */
  | { kind: 'welcome'; pool: string | null; leaseMs: number; stop: string[] }
  | { kind: 'refused'; message: string }

/**
 * Signed paths on the server, which soon expire. From `media`, the worker downloads the media file. From `input`, it
 * gets the other input of the engine (`JobInput`), such as the language. To `result`, it sends a result that is too
 * large for a message of NATS.
 */
export type Addresses = { media: string; input: string; result: string }

export type ClaimAnswer =
  /** `input` is null if it is too large for a message of NATS. The worker then fetches it over HTTP. */
  | { kind: 'yours'; fence: number; token: string; input: JobInput | null; addresses: Addresses }
  /**
   * Another worker holds the job or should do it, or the server cannot answer yet. The worker returns the message of
   * the job to JetStream (the message queues of NATS), which delivers the message again after `afterMs` (default:
   * `workerRetryMsMax`).
   */
  | { kind: 'later'; afterMs?: number }
  /**
   * The job is no longer in the state `processing`, or the stream has a newer message of the job. The worker removes
   * the received message from the stream.
   */
  | { kind: 'over' }
  | { kind: 'refused'; message: string }

/**
 * The answer to a progress report, which may contain utterances. `heard` is the number of utterances that the server
 * has received since the worker requested the job. The next report starts with the utterance at this index.
 */
export type BeatAnswer = { kind: 'continue'; heard: number } | { kind: 'later' } | { kind: 'stop' }

/**
 * The answer to a result. After `stored` or `refused`, the work on the job ends. After `again`, the worker returns the
 * message of the job to JetStream for any worker. After `later`, the worker sends the result again.
 */
export type ResultAnswer = { kind: 'stored' | 'refused' | 'again' | 'later' }

export type AddressesAnswer =
  | { kind: 'addresses'; addresses: Addresses }
  | { kind: 'later' }
  | { kind: 'stop' }

/** The answer to the request `models`. With `token`, the worker can download models for a short time. */
export type ModelsAnswer = { kind: 'models'; token: string }

export type Answers = {
  hello: HelloAnswer
  claim: ClaimAnswer
  beat: BeatAnswer
  result: ResultAnswer
  addresses: AddressesAnswer
  models: ModelsAnswer
}

// The protocol between the server and its workers: subjects, messages and answers. Each message is JSON. Workers send
// requests, and the server answers them. The server sends only one kind of message without a request: the order to
// stop a job.

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { nullable, oneOf } from '../base/schema.ts'
import type { TranscribeInput } from '../engine/request.ts'
import { type JobErrorCode, jobErrors } from '../errors.ts'
import { result, utterance } from '../transcripts/transcript.ts'

/** The version of this protocol. The server refuses a worker with another version. */
export const protocol = 1

/**
 * The names of the two queues of each pool. The queue `again` is for jobs that were already started once, and `first`
 * is for all other jobs. Workers take the jobs of `again` before those of `first`.
 */
export const priorities = ['again', 'first'] as const
export type Priority = (typeof priorities)[number]

export type RequestKind = 'hello' | 'claim' | 'beat' | 'result' | 'addresses' | 'models'

/**
 * Returns the NATS subjects of one cluster. The names of clusters, workers and pools consist of letters, digits, `_`
 * and `-`.
 */
export function subjectsOf(cluster: string) {
  const root = `steno.${cluster}`
  return {
    allJobs: `${root}.jobs.>`,
    job: (pool: string, priority: Priority, jobId: string) => `${root}.jobs.${pool}.${priority}.${jobId}`,
    jobsOf: (pool: string, priority: Priority) => `${root}.jobs.${pool}.${priority}.*`,
    allRequests: `${root}.from.*.*`,
    request: (worker: string, kind: RequestKind) => `${root}.from.${worker}.${kind}`,
    stop: (worker: string) => `${root}.to.${worker}.stop`,
    inbox: (worker: string) => `${root}.to.${worker}.inbox`,
    serverInbox: `${root}.server.inbox`,
  }
}

export function streamOf(cluster: string): string {
  return `STENO_${cluster}`
}

export function consumerOf(pool: string, priority: Priority): string {
  return `${pool}_${priority}`
}

/**
 * Converts a name, such as the name of a host, to a token of a subject, so that it can be the name of a worker.
 * Replaces each character that a token must not contain by a hyphen, and uses at most 64 characters.
 */
export function tokenOf(name: string): string {
  return name.replaceAll(/[^\w-]/g, '-').slice(0, 64) || 'worker'
}

const session = Type.String({ minLength: 1, maxLength: 64 })
const jobId = Type.String({ minLength: 1, maxLength: 64 })
const fence = Type.Integer({ minimum: 1 })
const texts = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 5000 })

/**
 * The abilities of a worker, as fields of its messages. Workers with the same abilities form a pool, and take jobs from
 * the same queues.
 */
const abilities = {
  model: Type.String({ minLength: 1, maxLength: 100 }),
  languages: texts,
  translates: Type.Boolean(),
  diarization: Type.String({ maxLength: 1000 }),
}

const hello = Type.Object({
  protocol: Type.Integer(),
  session,
  version: Type.String({ maxLength: 100 }),
  /** False while the engine of the worker loads its model, and after the worker has begun to stop. */
  ready: Type.Boolean(),
  message: Type.String({ maxLength: 1000 }),
  device: nullable(Type.String({ maxLength: 100 })),
  ...abilities,
  /** The number of jobs that the worker can run at the same time. */
  slots: Type.Integer({ minimum: 1, maximum: 1024 }),
  /**
   * The moving average of the speed of the worker, in seconds of audio per second of work. Null before the first job.
   */
  speed: nullable(Type.Number()),
  jobs: Type.Array(Type.Object({ job: jobId, fence }), { maxItems: 2048 }),
})

const claim = Type.Object({
  protocol: Type.Integer(),
  session,
  job: jobId,
  /**
   * `sequence` is the sequence number of the job's message in the stream. `delivery` is how often JetStream has
   * delivered this message.
   */
  sequence: Type.Integer({ minimum: 1 }),
  delivery: Type.Integer({ minimum: 1 }),
})

/**
 * The fields in each message from the holder of a job. The token proves that the sender made the claim with this fence.
 */
const held = { session, job: jobId, fence, token: Type.String({ maxLength: 100 }) }

const beat = Type.Object({
  ...held,
  /** The length of the part of the recording that is already transcribed, in seconds. */
  seconds: Type.Number({ minimum: 0 }),
  /** Complete utterances, in order. `first` is the index in the transcript of the first utterance of this message. */
  first: Type.Integer({ minimum: 0 }),
  utterances: Type.Array(utterance),
})

const addresses = Type.Object(held)

const modelsRequest = Type.Object({ protocol: Type.Integer() })

const resultMessage = Type.Object({
  ...held,
  /**
   * The result of a job has either a transcript or a failure. With a transcript, `peaks` has the peaks of the recording
   * in base64.
   */
  transcript: Type.Optional(result),
  peaks: Type.Optional(Type.String()),
  failure: Type.Optional(
    Type.Object({
      code: oneOf(Object.keys(jobErrors) as JobErrorCode[]),
      message: Type.String({ maxLength: 10_000 }),
    }),
  ),
})

export type Hello = Static<typeof hello>
export type Claim = Static<typeof claim>
export type Beat = Static<typeof beat>
export type Held = Static<typeof addresses>
export type ModelsRequest = Static<typeof modelsRequest>
export type ResultMessage = Static<typeof resultMessage>

/**
 * The input of the engine for a job, as the server sends it to a worker. `path` is left out, because the media file has
 * another path on each machine. `section` is left out, because a job always uses the whole recording.
 */
export type JobInput = Omit<TranscribeInput, 'path' | 'section'>

export type HelloAnswer =
  | { kind: 'welcome'; pool: string | null; leaseMs: number; stop: string[] }
  | { kind: 'refused'; message: string }

/**
 * Signed paths on the server, which expire after a short time: for fetching the media of a job, and for sending its
 * result.
 */
export type Addresses = { media: string; result: string }

export type ClaimAnswer =
  | { kind: 'yours'; fence: number; token: string; input: JobInput; addresses: Addresses }
  /**
   * Another worker still holds the job, or the server cannot answer yet. The worker that sent the claim returns its
   * message to JetStream, which delivers this message again later.
   */
  | { kind: 'later' }
  /**
   * The job has ended, or the stream has another message of this job that is the valid one. The worker that sent the
   * claim removes its own message from the stream.
   */
  | { kind: 'over' }
  | { kind: 'refused'; message: string }

/**
 * The answer to a report. `heard` is the number of utterances that the server has received. The next report starts with
 * the utterance at this index.
 */
export type BeatAnswer = { kind: 'continue'; heard: number } | { kind: 'later' } | { kind: 'stop' }

/**
 * The answer to a result. After `stored` and `refused`, the work on the job is over. After `again`, the worker returns
 * the message of the job to JetStream, so that a worker gets the job again. After `later`, the worker sends the result
 * again.
 */
export type ResultAnswer = { kind: 'stored' | 'refused' | 'again' | 'later' }

export type AddressesAnswer =
  | { kind: 'addresses'; addresses: Addresses }
  | { kind: 'later' }
  | { kind: 'stop' }

/** The answer with a token. With this token, the worker can download the server's models for a short time. */
export type ModelsAnswer = { kind: 'models'; token: string }

export type Answers = {
  hello: HelloAnswer
  claim: ClaimAnswer
  beat: BeatAnswer
  result: ResultAnswer
  addresses: AddressesAnswer
  models: ModelsAnswer
}

export type Requests = {
  hello: Hello
  claim: Claim
  beat: Beat
  result: ResultMessage
  addresses: Held
  models: ModelsRequest
}

const checks: { [Kind in RequestKind]: TypeCheck<TSchema> } = {
  hello: TypeCompiler.Compile(hello),
  claim: TypeCompiler.Compile(claim),
  beat: TypeCompiler.Compile(beat),
  result: TypeCompiler.Compile(resultMessage),
  addresses: TypeCompiler.Compile(addresses),
  models: TypeCompiler.Compile(modelsRequest),
}

/** Parses a request of a worker. Returns null if the bytes are not a valid request of this kind. */
export function readRequest<Kind extends RequestKind>(kind: Kind, bytes: Uint8Array): Requests[Kind] | null {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return null
  }
  return checks[kind].Check(value) ? (value as Requests[Kind]) : null
}

export function isRequestKind(kind: string): kind is RequestKind {
  return Object.hasOwn(checks, kind)
}

export function bytesOf(message: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(message))
}

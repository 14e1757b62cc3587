// The requests of workers to the server: their schemas and their parser. Each message is JSON.

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { nullable, oneOf } from '../base/schema.ts'
import { type JobErrorCode, jobErrors } from '../errors.ts'
import { limits } from '../limits.ts'
import { result, utterance } from '../transcripts/transcript.ts'
import type { RequestKind } from './subjects.ts'

/** The version of this protocol. The server refuses a worker with another version. */
export const protocol = 1

const session = Type.String({ minLength: 1, maxLength: 64 })

export const jobId = Type.String({ minLength: 1, maxLength: 64 })

const fence = Type.Integer({ minimum: 1 })

/** A job that a worker has claimed. `fence` is the number of this claim. */
export const claimed = Type.Object({ job: jobId, fence })

const texts = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 5000 })

/** The abilities of a worker. Workers with the same abilities form a pool and share its queues. */
const abilities = {
  /** A model that is given as a folder has the name of the folder, which can have 255 bytes. */
  model: Type.String({ minLength: 1, maxLength: 255 }),
  languages: texts,
  translates: Type.Boolean(),
  diarization: Type.String({ maxLength: 1000 }),
}

const hello = Type.Object({
  protocol: Type.Integer(),
  session,
  version: Type.String({ maxLength: 100 }),
  /**
   * False if the engine is not ready, if the worker pauses after an error of its machine, or if the worker has begun to
   * stop.
   */
  ready: Type.Boolean(),
  message: Type.String({ maxLength: 1000 }),
  device: nullable(Type.String({ maxLength: 100 })),
  ...abilities,
  /** The number of jobs that the worker can run at the same time. */
  slots: Type.Integer({ minimum: 1, maximum: 1024 }),
  /**
   * The moving average of the speed of the worker, in seconds of audio per second of work. Null before the first
   * completed job.
   */
  speed: nullable(Type.Number()),
  jobs: Type.Array(claimed, { maxItems: 2048 }),
})

const claim = Type.Object({
  protocol: Type.Integer(),
  session,
  job: jobId,
  /**
   * `sequence` is the sequence number of the job's message in the stream. `delivery` is the number of times that
   * JetStream has delivered this message.
   */
  sequence: Type.Integer({ minimum: 1 }),
  delivery: Type.Integer({ minimum: 1 }),
})

/**
 * The fields of each message about a claimed job. `fence` is the number of the claim, and `token` proves that the
 * sender made this claim.
 */
const held = { session, job: jobId, fence, token: Type.String({ maxLength: 100 }) }

const beat = Type.Object({
  ...held,
  /** The length of the transcribed part of the recording, in seconds. */
  seconds: Type.Number({ minimum: 0 }),
  /** The index of the first of `utterances` in the transcript. */
  first: Type.Integer({ minimum: 0 }),
  /** Some complete utterances of the transcript, in order. */
  utterances: Type.Array(utterance),
  /** The language of the texts of the utterances. Absent in the messages of older workers. */
  language: Type.Optional(Type.String({ maxLength: 100 })),
})

const addresses = Type.Object(held)

const modelsRequest = Type.Object({ protocol: Type.Integer() })

const resultMessage = Type.Object({
  ...held,
  /**
   * Either a transcript or a failure is present. `peaks` has the peaks of the waveform in base64. It comes only with a
   * transcript.
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

/**
 * Parses a request of a worker. Returns null if the bytes are not a valid request of this kind, or if a `hello` is too
 * large.
 */
export function readRequest<Kind extends RequestKind>(kind: Kind, bytes: Uint8Array): Requests[Kind] | null {
  if (kind === 'hello' && bytes.length > limits.workerHelloBytesMax) return null
  return readMessage(checks[kind], bytes) as Requests[Kind] | null
}

/** Parses a message. Returns null if the bytes are not JSON, or if the schema of `check` does not allow the value. */
export function readMessage<Schema extends TSchema>(
  check: TypeCheck<Schema>,
  bytes: Uint8Array,
): Static<Schema> | null {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return null
  }
  return check.Check(value) ? value : null
}

export function isRequestKind(kind: string): kind is RequestKind {
  return Object.hasOwn(checks, kind)
}

export function bytesOf(message: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(message))
}

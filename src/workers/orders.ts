// The messages that a worker gets over NATS (the message broker) and that are not answers of the server. One is the
// order to stop a job. The other is a message in a queue, which says which job waits for a worker. A worker checks both
// against a schema, because NATS does not say who sent them.

import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { claimed, jobId, readMessage } from './requests.ts'

const stopOrder = TypeCompiler.Compile(claimed)

const queuedJob = TypeCompiler.Compile(Type.Object({ job: jobId }))

/** Parses the order to stop a job. Returns null if the bytes are not such an order. */
export function readStopOrder(bytes: Uint8Array): { job: string; fence: number } | null {
  return readMessage(stopOrder, bytes)
}

/** Parses the message of a job in a queue. Returns the id of the job, or null if the bytes are not such a message. */
export function readQueuedJob(bytes: Uint8Array): string | null {
  return readMessage(queuedJob, bytes)?.job ?? null
}

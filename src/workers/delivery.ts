// A message of the stream, as JetStream delivers it to a worker, and the answers that JetStream expects.

import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { limits } from '../limits.ts'
import { consumerOf, type Priority, streamOf } from './messages.ts'

export type Delivery = {
  jobId: string
  sequence: number
  /** The number of deliveries of the message, with this one. */
  count: number
  /** Removes the message from the stream. */
  remove(): void
  /** Tells JetStream that the work goes on, so that it delivers the message to no other worker. */
  keep(): void
  /** Gives the message back. JetStream delivers it again after the delay. */
  giveBack(delayMs: number): void
}

type Pull = { pool: string; priority: Priority; waitMs: number }

/** Asks for the next message of a queue. Returns null if none came within `waitMs`. */
export async function pull(
  nats: NatsConnection,
  cluster: string,
  { pool, priority, waitMs }: Pull,
): Promise<Delivery | null> {
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${streamOf(cluster)}.${consumerOf(pool, priority)}`
  const request = waitMs === 0 ? { batch: 1, no_wait: true } : { batch: 1, expires: waitMs * 1e6 }
  const timeout = waitMs + limits.workerRequestMs
  // A delivered message has the subject of the job, so the shared subscription for answers would not find the request.
  const answer = await nats.request(subject, JSON.stringify(request), { timeout, noMux: true })
  return readDelivery(nats, answer)
}

function readDelivery(nats: NatsConnection, { data, reply, headers }: Msg): Delivery | null {
  // A message without a job has a status instead, for example 404 for an empty queue.
  if (!reply?.startsWith('$JS.ACK.') || headers?.hasError) return null
  const { job } = JSON.parse(new TextDecoder().decode(data)) as { job: string }
  // The last fields: deliveries, sequence in the stream, sequence in the consumer, time, waiting messages. A newer
  // NATS adds a random field after them, and two fields before the name of the stream.
  const fields = reply.split('.')
  const at = fields.length > 9 ? 6 : 4
  const say = (text: string) => {
    if (!nats.isClosed()) nats.publish(reply, text)
  }
  return {
    jobId: job,
    count: Number(fields[at]),
    sequence: Number(fields[at + 1]),
    remove: () => say('+ACK'),
    keep: () => say('+WPI'),
    giveBack: delayMs => say(`-NAK ${JSON.stringify({ delay: delayMs * 1e6 })}`),
  }
}

// A message of the stream, as JetStream delivers it to a worker, with the answers that a worker can give to
// JetStream.

import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { limits } from '../limits.ts'
import { consumerOf, type Priority, streamOf } from './messages.ts'

export type Delivery = {
  jobId: string
  sequence: number
  /** How often JetStream has delivered the message, including this delivery. */
  count: number
  /** Removes the message from the stream. */
  remove(): void
  /**
   * Tells JetStream that the work on the message continues. Without this, JetStream would deliver the message again.
   */
  keep(): void
  /** Returns the message to JetStream, which delivers it again after the delay. */
  giveBack(delayMs: number): void
}

type Pull = { pool: string; priority: Priority; waitMs: number }

/** Asks JetStream for the next message of a queue. Returns null if no message comes within `waitMs`. */
export async function pull(
  nats: NatsConnection,
  cluster: string,
  { pool, priority, waitMs }: Pull,
): Promise<Delivery | null> {
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${streamOf(cluster)}.${consumerOf(pool, priority)}`
  const request = waitMs === 0 ? { batch: 1, no_wait: true } : { batch: 1, expires: waitMs * 1e6 }
  const timeout = waitMs + limits.workerRequestMs
  // A message is delivered with the subject of its job instead of the subject of the request, so the connection's
  // shared inbox could not match the two.
  const answer = await nats.request(subject, JSON.stringify(request), { timeout, noMux: true })
  return readDelivery(nats, answer)
}

function readDelivery(nats: NatsConnection, { data, reply, headers }: Msg): Delivery | null {
  // A response without a job has a status, such as 404 for an empty queue.
  if (!reply?.startsWith('$JS.ACK.') || headers?.hasError) return null
  const { job } = JSON.parse(new TextDecoder().decode(data)) as { job: string }
  // The last fields are: number of deliveries, sequence number in the stream, sequence number in the consumer, time,
  // number of waiting messages. Recent versions of NATS add a random field after them, and two fields before the name
  // of the stream.
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

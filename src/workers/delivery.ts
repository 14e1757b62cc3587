// One delivery of a message: JetStream sends a message of the stream to a worker. The methods are the answers that the
// worker can send to JetStream.

import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { log } from '../base/log.ts'
import { limits } from '../limits.ts'
import { beforeStop } from '../net/before-stop.ts'
import { readQueuedJob } from './orders.ts'
import { consumerOf, type Priority, streamOf } from './subjects.ts'

export type Delivery = {
  jobId: string
  sequence: number
  /** The number of times that JetStream has delivered this message, including this delivery. */
  count: number
  /** Removes the message from the stream, so that JetStream does not deliver it again. */
  remove(): void
  /**
   * Informs JetStream that the work on the message continues. Must be called at intervals, because JetStream otherwise
   * delivers the message again.
   */
  keep(): void
  /** Gives the message back to JetStream, which delivers the message again after the delay. */
  giveBack(delayMs: number): void
}

/** `lost` is aborted when the connection to NATS breaks. */
type Pull = { pool: string; priority: Priority; waitMs: number; lost: AbortSignal }

/**
 * Asks JetStream for the next job in one queue of a pool (a group of workers with the same abilities). A pool has one
 * queue for each priority. Returns null if JetStream answers that no message came within `waitMs`. Rejects if JetStream
 * does not answer. Returns null if the connection breaks: the answer is then probably lost, and the next job would have
 * to wait for the timeout of the request. If a job still comes later, it is given back. Removes a message that is no
 * job, and returns null.
 */
export async function pull(
  nats: NatsConnection,
  cluster: string,
  { pool, priority, waitMs, lost }: Pull,
): Promise<Delivery | null> {
  if (lost.aborted) return null
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${streamOf(cluster)}.${consumerOf(pool, priority)}`
  const request = waitMs === 0 ? { batch: 1, no_wait: true } : { batch: 1, expires: waitMs * 1e6 }
  const timeout = waitMs + limits.workerRequestMs
  // By default, all requests of a connection share one subscription. This subscription matches an answer to its request
  // by the subject of the answer. But JetStream answers with the message of a job, whose subject is the subject of the
  // job. So the shared subscription would not find the request. With `noMux`, this request has a subscription of its
  // own.
  const asked = nats.request(subject, JSON.stringify(request), { timeout, noMux: true })
  const answer = await beforeStop(asked, lost)
  if (answer) return readDelivery(nats, answer)
  // When the connection is open again, the NATS client renews this subscription. If the request is still valid then,
  // JetStream may answer it with a job.
  asked.then(
    late => readDelivery(nats, late)?.giveBack(0),
    () => {},
  )
  return null
}

function readDelivery(nats: NatsConnection, { data, reply, headers }: Msg): Delivery | null {
  // If the queue has no message, the response of JetStream contains no job, but a status such as 404.
  if (!reply?.startsWith('$JS.ACK.') || headers?.hasError) return null
  // The number of deliveries and the sequence number are read from the reply address of the message. Dots separate the
  // fields of this address. In old versions of NATS, the address has nine fields: `$JS`, `ACK`, stream, consumer,
  // number of deliveries, sequence number in the stream, sequence number in the consumer, time, number of waiting
  // messages. Recent versions add two fields before the stream and one field at the end.
  const fields = reply.split('.')
  const at = fields.length > 9 ? 6 : 4
  const say = (text: string) => {
    if (!nats.isClosed()) nats.publish(reply, text)
  }
  const jobId = readQueuedJob(data)
  if (jobId === null) {
    log.warn('message of a queue not understood', { bytes: data.length })
    say('+ACK')
    return null
  }
  return {
    jobId,
    count: Number(fields[at]),
    sequence: Number(fields[at + 1]),
    remove: () => say('+ACK'),
    keep: () => say('+WPI'),
    giveBack: delayMs => say(`-NAK ${JSON.stringify({ delay: delayMs * 1e6 })}`),
  }
}

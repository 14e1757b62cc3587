// A message that JetStream (the message queues of NATS) delivers to a worker. Its methods send the worker's answers to
// JetStream.

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
   * Tells JetStream that the work on the message continues. Without regular calls, JetStream delivers the message
   * again.
   */
  keep(): void
  /** Gives the message back to JetStream, which delivers the message again after the delay. */
  giveBack(delayMs: number): void
}

/** The statuses with which JetStream says that no job came: at once (404), or within the time of the request (408). */
const emptyStatuses = [404, 408]

/** `lost` is aborted when the connection to NATS breaks. */
type Pull = { pool: string; priority: Priority; waitMs: number; lost: AbortSignal }

/**
 * Asks JetStream for the next job in one queue of a pool (a group of workers with the same abilities). Returns null if
 * no job comes within `waitMs`, or if the message is not a job. Also returns null at once if the connection breaks.
 * Rejects if JetStream does not answer or refuses the request, for example because 512 requests already wait at the
 * queue.
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
  // With `noMux`, this request has a subscription of its own. All other requests share one subscription. The shared
  // subscription recognises an answer by its subject (its address in NATS), which is different for each request.
  // JetStream's answer has the subject of the job's message instead, so the shared subscription could not recognise it.
  const asked = nats.request(subject, JSON.stringify(request), { timeout, noMux: true })
  const answer = await beforeStop(asked, lost)
  if (answer?.headers?.hasError && !emptyStatuses.includes(answer.headers.code))
    throw new Error(`JetStream refuses the request for a job: ${answer.headers.description}`)
  if (answer) return readDelivery(nats, answer)
  // The connection is broken, so this function returns null now. After a reconnect, the NATS client renews the
  // subscription of the request, and JetStream may still answer with a job. Nothing waits for this job any more, so it
  // is given back to JetStream.
  asked.then(
    late => readDelivery(nats, late)?.giveBack(0),
    () => {},
  )
  return null
}

function readDelivery(nats: NatsConnection, { data, reply, headers }: Msg): Delivery | null {
  // If the queue has no job, JetStream answers the request for a job with a status, such as 404. A status contains no
  // job.
  if (!reply?.startsWith('$JS.ACK.') || headers?.hasError) return null
  // The reply address has nine fields in old versions of NATS: `$JS`, `ACK`, stream, consumer, number of deliveries,
  // sequence number in the stream, and three more. Recent versions add two fields before the stream and one at the end.
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

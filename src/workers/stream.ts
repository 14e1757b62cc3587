// The stream of jobs in JetStream (the message queues of NATS), from which workers take jobs. The stream keeps the
// message of a job until a worker or the server removes it. A message contains only the job id and the protocol
// version. Its subject names the queue and the job.

import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerCreateOptions,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream'
import { type NatsConnection, nanos } from '@nats-io/transport-node'
import { limits } from '../limits.ts'
import { bytesOf, protocol } from './requests.ts'
import { consumerOf, type Priority, priorities, streamOf, subjectsOf } from './subjects.ts'

/** The error code of JetStream for a queue that exists with other settings. The client of NATS has no name for it. */
const consumerExists = 10148

/**
 * The option that asks JetStream to change a queue. The types of the NATS client lack it. The client's function
 * `update` cannot be used instead: it keeps old settings, and NATS requires one more permission for it.
 */
const change: ConsumerCreateOptions & { action: 'update' } = { action: 'update' }

/**
 * The error for a JetStream stream that has the right name but wrong settings. Such a stream may belong to another
 * program.
 */
export class OtherStream extends Error {}

export class JobStream {
  /** True if `open` created the stream. A new stream has no messages and numbers them from 1. */
  readonly isNew: boolean
  readonly #cluster: string
  readonly #client: JetStreamClient
  readonly #manager: JetStreamManager
  readonly #leaseMs: number

  private constructor(
    { cluster, leaseMs, isNew }: { cluster: string; leaseMs: number; isNew: boolean },
    client: JetStreamClient,
    manager: JetStreamManager,
  ) {
    this.isNew = isNew
    this.#cluster = cluster
    this.#client = client
    this.#manager = manager
    this.#leaseMs = leaseMs
  }

  /** Creates the stream if it does not exist. Throws OtherStream if a stream of this name has other settings. */
  static async open(nats: NatsConnection, cluster: string, leaseMs: number): Promise<JobStream> {
    const manager = await jetstreamManager(nats)
    const isNew = await requireStream(manager, cluster)
    return new JobStream({ cluster, leaseMs, isNew }, jetstream(nats), manager)
  }

  /**
   * Creates the queues of a pool, one for each priority. Existing queues stay, but get the settings of this server.
   * Creates the stream first if it was removed.
   */
  async openPool(pool: string): Promise<void> {
    await requireStream(this.#manager, this.#cluster)
    await Promise.all(priorities.map(priority => this.#openQueue(pool, priority)))
  }

  /** Removes the queues of a pool. The messages of its jobs stay in the stream. */
  async closePool(pool: string): Promise<void> {
    const { consumers } = this.#manager
    for (const priority of priorities)
      await consumers.delete(streamOf(this.#cluster), consumerOf(pool, priority)).catch(acceptRefusal)
  }

  /** Creates a queue, or changes the settings of an existing queue. */
  async #openQueue(pool: string, priority: Priority): Promise<void> {
    const { consumers } = this.#manager
    const stream = streamOf(this.#cluster)
    const config = this.#queueSettings(pool, priority)
    await consumers.add(stream, config).catch(async error => {
      // If the queue exists with other settings, nats-server before 2.10 changes the settings itself. Later versions
      // refuse the request, so a second request asks for the change.
      if (!(error instanceof JetStreamApiError) || error.code !== consumerExists) throw error
      await consumers.add(stream, config, change)
    })
  }

  #queueSettings(pool: string, priority: Priority): Partial<ConsumerConfig> {
    return {
      durable_name: consumerOf(pool, priority),
      filter_subject: subjectsOf(this.#cluster).jobsOf(pool, priority),
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ack_wait: nanos(Math.min(this.#leaseMs, limits.workerKeepMs)),
      // The number of deliveries has no limit, because an outage can cause a second delivery without a failure of the
      // worker. The server counts and limits the attempts of a job in the database.
      max_deliver: -1,
      max_ack_pending: -1,
    }
  }

  /**
   * Puts a job into the queue of a pool. Returns the sequence number of the message, also if the queue already had the
   * job. If the stream was removed, creates the stream and the queues of this pool first.
   */
  async put(pool: string, priority: Priority, jobId: string): Promise<number> {
    try {
      return await this.#put(pool, priority, jobId)
    } catch (error) {
      if (!isStreamMissing(error)) throw error
      await this.openPool(pool)
      return await this.#put(pool, priority, jobId)
    }
  }

  async #put(pool: string, priority: Priority, jobId: string): Promise<number> {
    const subject = subjectsOf(this.#cluster).job(pool, priority, jobId)
    try {
      const { seq } = await this.#client.publish(subject, bytesOf({ protocol, job: jobId }))
      return seq
    } catch (error) {
      const existing = await this.#find(subject)
      if (existing !== null) return existing
      throw error
    }
  }

  /** Removes a message of a job from the stream, for example when the job has ended. Rejects if it is missing. */
  async remove(sequence: number): Promise<void> {
    await this.#manager.streams.deleteMessage(streamOf(this.#cluster), sequence)
  }

  async #find(subject: string): Promise<number | null> {
    const { streams } = this.#manager
    const message = await streams.getMessage(streamOf(this.#cluster), { last_by_subj: subject })
    return message?.seq ?? null
  }
}

type Wanted = Pick<StreamConfig, 'name' | 'subjects' | 'retention' | 'storage' | 'discard'> &
  Pick<StreamConfig, 'discard_new_per_subject' | 'max_msgs_per_subject'>

function settingsOf(cluster: string): Wanted {
  return {
    name: streamOf(cluster),
    subjects: [subjectsOf(cluster).allJobs],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    // The stream refuses a second message with the same subject. Putting a job into the same queue twice has therefore
    // no effect.
    max_msgs_per_subject: 1,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
  }
}

/**
 * Creates the stream if it does not exist. Returns true if it was created. Throws OtherStream if a stream of this name
 * has other settings.
 */
async function requireStream({ streams }: JetStreamManager, cluster: string): Promise<boolean> {
  const wanted = settingsOf(cluster)
  const found = await streams.info(wanted.name).catch(error => {
    if (isStreamMissing(error)) return null
    throw error
  })
  if (found) requireSettings(found.config, wanted)
  else await streams.add({ ...wanted, max_msgs: limits.workerStreamMessagesMax })
  return found === null
}

function requireSettings(found: StreamConfig, wanted: Wanted): void {
  for (const name of Object.keys(wanted) as (keyof Wanted)[]) {
    if (Bun.deepEquals(found[name], wanted[name])) continue
    throw new OtherStream(
      `the stream ${wanted.name} has ${name} ${found[name]}, but ${wanted[name]} is needed: remove the stream, or choose another STENO_CLUSTER`,
    )
  }
}

/** Ignores refusals of JetStream, such as "message not found". Rethrows other errors, such as a timeout. */
function acceptRefusal(error: unknown): void {
  if (!(error instanceof JetStreamApiError)) throw error
}

function isStreamMissing(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound
}

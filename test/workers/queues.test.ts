// Tests that the server creates a missing stream or queue of JetStream (the message store of NATS) again. Also tests
// that it removes unused queues, and what happens to waiting jobs.

import { expect, spyOn } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { AckPolicy, JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { log } from '../../src/base/log.ts'
import { limits } from '../../src/limits.ts'
import type { HelloAnswer } from '../../src/workers/answers.ts'
import type { NatsConnection } from '../../src/workers/connection.ts'
import { TakenBack } from '../../src/workers/hand-over.ts'
import type { Claims } from '../../src/workers/hand-overs.ts'
import { poolOf } from '../../src/workers/pools.ts'
import { bytesOf, protocol } from '../../src/workers/requests.ts'
import { JobStream } from '../../src/workers/stream.ts'
import { consumerOf, type Priority, streamOf, subjectsOf } from '../../src/workers/subjects.ts'
import { connect, openFleet } from '../support/bare-fleet.ts'
import { helloOf, until } from '../support/fleet.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startLossyProxy } from '../support/lossy-proxy.ts'
import { natsTest, sharedNats, startNats } from '../support/nats.ts'
import { plainInput } from '../support/plain-input.ts'

const nats = sharedNats()
const hour = 3_600_000
const german = { language: 'de', diarize: false }
const pool = poolOf(helloOf(['de']))
const [again, first] = [consumerOf(pool, 'again'), consumerOf(pool, 'first')]

/**
 * Opens a fleet: the part of a server that gives jobs to workers through queues of NATS. The returned `queues` lists
 * the names of these queues in alphabetical order. The returned `block` creates another queue with the name of one of
 * these queues, so that the server cannot create its own queue.
 */
async function open(cluster: string, claims?: Partial<Claims>) {
  const parts = await openFleet(nats.url, cluster, claims)
  const { consumers } = parts.manager
  const queues = async () => {
    const found = await Array.fromAsync(consumers.list(streamOf(cluster))).catch(error => {
      const isGone = error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound
      if (isGone) return []
      throw error
    })
    // JetStream lists null for a queue that is just being removed.
    return found.flatMap(queue => queue?.name ?? []).sort()
  }
  const block = (priority: Priority) =>
    consumers.add(streamOf(cluster), {
      durable_name: consumerOf(pool, priority),
      deliver_subject: 'other',
      ack_policy: AckPolicy.Explicit,
      filter_subject: subjectsOf(cluster).jobsOf(pool, priority),
    })
  return { ...parts, consumers, queues, block }
}

/**
 * Opens a fleet (the part of a server that gives jobs to workers), and puts a job in German into a queue. Then deletes
 * this queue, and creates another queue with the same name. A worker asks a normal queue for a job. This other queue
 * sends its messages without being asked, so a worker cannot ask it. NATS does not allow the server to change it into a
 * normal queue, so no worker can get the job.
 */
async function openStuck(cluster: string, claims?: Partial<Claims>) {
  const parts = await open(cluster, claims)
  const { fleet, later, consumers, hello, passGerman, queued, queues, block } = parts
  // After the server has connected to NATS, it waits for messages of workers that it does not know yet. The wait is one
  // lease: the allowed silence of a worker, here an hour. Until then, the server assumes that an unknown worker can do
  // the job. The clock moves beyond this hour to end the assumption.
  later(hour + 1)
  await hello(['de'])
  const job = passGerman()
  await until(async () => (await queued()).length === 1 && (await queues()).length === 2)
  await consumers.delete(streamOf(cluster), first)
  await block('first')
  fleet.sweep()
  await until(() => fleet.fault() !== null)
  return { ...parts, job }
}

/** Waits until a broken connection is open again. A request that is sent before then gets no answer. */
const untilOpen = (wire: NatsConnection) =>
  until(() =>
    wire.flush().then(
      () => true,
      () => false,
    ),
  )

// JetStream does not answer a request to a queue that does not exist. A worker that sent such a request would wait for
// the answer for 10 s or more.
natsTest('a worker gets the answer `welcome` only when its queues exist', async () => {
  const { fleet, hello, queues } = await open('early')
  const nobody = 'No worker is connected.'
  const empty = { ready: false, message: nobody, model: null, device: null, diarization: nobody }
  expect([fleet.state(), fleet.translates()]).toEqual([empty, null])
  await hello(['de'])
  const message = 'ready, with 1 workers'
  const state = { ready: true, message, model: 'steered', device: 'none', diarization: 'ready' }
  expect([fleet.state(), fleet.translates()]).toEqual([state, true])
  expect(await queues()).toEqual([again, first])
})

// When another model is installed, the engine of a worker changes from the built-in model to this model. The worker
// stays ready during the change.
natsTest('a ready worker that changes its model gets the queues of its new pool', async () => {
  const { hello, queues } = await open('changed')
  await hello(['de'])
  const answer = (await hello(['de'], { model: 'other' })).json<HelloAnswer>()
  const other = poolOf({ ...helloOf(['de']), model: 'other' })
  expect(answer).toMatchObject({ kind: 'welcome', pool: other })
  expect(await queues()).toContain(consumerOf(other, 'first'))
})

// From version 2.10 on, nats-server refuses to create an existing queue with another setting.
natsTest('a server that starts with another lease changes the queues that exist', async () => {
  const { wire, consumers } = await open('lease')
  const waits = []
  for (const leaseMs of [2000, 1000]) {
    await (await JobStream.open(wire, 'lease', leaseMs)).openPool(pool)
    const { config } = await consumers.info(streamOf('lease'), first)
    // JetStream limits neither the deliveries of a message nor the open jobs (-1). The server counts the attempts of a
    // job, and workers may have any number of jobs.
    expect([config.max_deliver, config.max_ack_pending]).toEqual([-1, -1])
    waits.push(config.ack_wait)
  }
  expect(waits).toEqual([nanos(2000), nanos(1000)])
})

natsTest(
  'a missing queue keeps no other queue, and a job for a missing stream creates the queues',
  async () => {
    const { wire, manager, consumers, queues } = await open('gaps')
    const stream = await JobStream.open(wire, 'gaps', hour)
    await stream.openPool(pool)
    // JetStream delivers a message again if the worker does not acknowledge it, or report work on it, within the time
    // `ack_wait`.
    expect((await consumers.info(streamOf('gaps'), first)).config.ack_wait).toBe(nanos(limits.workerKeepMs))
    await consumers.delete(streamOf('gaps'), again)
    await stream.closePool(pool)
    expect(await queues()).toEqual([])
    await manager.streams.delete(streamOf('gaps'))
    expect(await stream.put(pool, 'first', 'job')).toBe(1)
    expect(await queues()).toEqual([again, first])
  },
)

natsTest('a pool whose queue could not be created gets jobs when a sweep has created the queue', async () => {
  const cluster = 'blocked'
  const { fleet, consumers, hello, queues, block } = await open(cluster)
  using error = spyOn(log, 'error').mockImplementation(() => {})
  await block('again')
  const poolOfAnswer = async () =>
    (await hello(['de'])).json<Extract<HelloAnswer, { kind: 'welcome' }>>().pool
  // The answer to the message `hello` must not name a pool whose queue is missing. Otherwise the worker would ask for
  // jobs, and get no answer from JetStream.
  expect(await poolOfAnswer()).toBeNull()
  // The sweep tries again to create the queue. If this attempt fails too, it is not logged.
  fleet.sweep()
  expect(await poolOfAnswer()).toBeNull()
  const reason: unknown = expect.objectContaining({ pool, error: expect.any(String) })
  expect<unknown>(error.mock.calls).toEqual([['pool not opened', reason]])
  expect(fleet.fault()).not.toBeNull()
  expect([fleet.capacity, fleet.hasRoomFor(german), fleet.state().ready]).toEqual([0, false, false])
  await until(async () => (await queues()).includes(first))
  let wasTold = false
  fleet.onReady(() => {
    wasTold = true
  })
  await consumers.delete(streamOf(cluster), again)
  fleet.sweep()
  await until(() => wasTold)
  expect([fleet.capacity, fleet.hasRoomFor(german), fleet.state().ready]).toEqual([1, true, true])
  expect(await queues()).toEqual([again, first])
  expect(await poolOfAnswer()).toBe(pool)
})

natsTest('a job whose message was lost with the connection goes into the stream again', async () => {
  const jobs = subjectsOf('lost').allJobs.replace('>', '')
  let cuts = 0
  const proxy = await startLossyProxy(nats.port, (from, bytes) => {
    if (from === 'caller' && `${bytes}`.includes(`PUB ${jobs}`) && cuts++ === 0) proxy.cut()
  })
  const address = `nats://127.0.0.1:${proxy.port}`
  const { fleet, wire, hello, passGerman, queued } = await openFleet(address, 'lost')
  await hello(['de'])
  passGerman()
  await until(() => fleet.fault() !== null)
  await until(() => fleet.fault() === null)
  await untilOpen(wire)
  await until(async () => (await queued()).length === 1)
  proxy.close()
})

natsTest(
  'after an outage, a worker gets the answer `welcome` only when the stream is open again',
  async () => {
    const proxy = await startLossyProxy(nats.port)
    const { fleet } = await openFleet(`nats://127.0.0.1:${proxy.port}`, 'opening')
    const { wire, hello } = await connect(nats.url, 'opening')
    await hello(['de'])
    const begun = Promise.withResolvers<void>()
    const opened = Promise.withResolvers<void>()
    const openStream = JobStream.open
    using _held = spyOn(JobStream, 'open').mockImplementation(async (...parts) => {
      begun.resolve()
      await opened.promise
      return await openStream(...parts)
    })
    proxy.cut()
    await begun.promise
    let isAnswered = false
    const answer = hello(['de']).then(() => {
      isAnswered = true
    })
    // The server answers requests in their order, so it has received `hello` when it answers `models`.
    await wire.request(subjectsOf('opening').request('gpu-1', 'models'), bytesOf({ protocol }))
    expect([fleet.fault() === null, isAnswered]).toEqual([false, false])
    opened.resolve()
    await answer
    expect(fleet.fault()).toBeNull()
    proxy.close()
  },
)

natsTest('a waiting job goes into the stream again when NATS comes back without its data', async () => {
  const folder = temporaryFolder()
  const own = await startNats({ folder })
  const { fleet, wire, hello, passGerman, queued } = await openFleet(own.url, 'wiped')
  await hello(['de'])
  passGerman()
  await until(async () => (await queued()).length === 1)
  await own.kill()
  await until(() => fleet.fault() !== null)
  rmSync(join(folder, 'js'), { recursive: true })
  await own.start()
  await until(() => fleet.fault() === null)
  await untilOpen(wire)
  await until(async () => (await queued()).length === 1)
})

natsTest(
  'after an outage, a worker keeps its job, and a job that gets another pool leaves no message in the old queue',
  async () => {
    const proxy = await startLossyProxy(nats.port)
    const address = `nats://127.0.0.1:${proxy.port}`
    const claims = { takeBack: () => 2 }
    const { fleet, later, wire, hello, passGerman, queued } = await openFleet(address, 'moved', claims)
    await hello(['de'])
    passGerman('gpu-3/x', 'held')
    passGerman()
    await until(async () => (await queued()).length === 1)
    await hello(['de', 'en'], { session: 'y' }, 'gpu-2')
    await hello(['de'], { ready: false })
    expect(fleet.hasRoomFor(german)).toBe(true)
    proxy.cut()
    await until(() => fleet.fault() !== null)
    // The worker `gpu-2` is idle, but during an outage of NATS, no worker can get a job. So `gpu-2` does not add to
    // the capacity. The capacity is 2, for the two jobs that the server has handed over.
    expect([fleet.capacity, fleet.hasRoomFor(german), fleet.state().ready]).toEqual([2, false, false])
    expect(fleet.waitingJobs()).toEqual(['held', 'job'])
    // The outage lasts two hours, which is longer than the lease (the allowed silence of a worker, here an hour). No
    // worker can send a message during the outage, so all leases begin again when it ends.
    later(2 * hour)
    const taken: string[] = []
    fleet.own = { canDo: () => true, hasRoom: () => true, take: id => void taken.push(id) }
    fleet.rescue()
    fleet.sweep()
    fleet.own = null
    expect(taken).toEqual([])
    await until(() => fleet.fault() === null)
    await untilOpen(wire)
    const other = subjectsOf('moved').job(poolOf(helloOf(['de', 'en'])), 'first', 'job')
    await until(async () => (await queued()).includes(other))
    await until(async () => (await queued()).length === 1)
    expect(fleet.waitingJobs()).toEqual(['job'])
    proxy.close()
  },
)

natsTest(
  'a job that moves before JetStream has confirmed its first message leaves no message in the old queue',
  async () => {
    // JetStream confirms a message in the old queue and a message in the new queue. The two confirmations can arrive in
    // either order.
    const orders = [
      [0, 1],
      [1, 0],
    ]
    for (const order of orders) {
      const cluster = `overlapped-${order.join('-')}`
      const { fleet, hello, passGerman, queued } = await open(cluster)
      await hello(['de'])
      const put = JobStream.prototype.put
      const confirmations: (() => void)[] = []
      const held = spyOn(JobStream.prototype, 'put').mockImplementation(async function (
        this: JobStream,
        ...job
      ) {
        const sequence = await put.apply(this, job)
        await new Promise<void>(resolve => confirmations.push(resolve))
        return sequence
      })
      passGerman()
      await until(() => confirmations.length === 1)
      await hello(['de', 'en'], { session: 'y' }, 'gpu-2')
      await hello(['de'], { ready: false })
      fleet.sweep()
      await until(() => confirmations.length === 2)
      held.mockRestore()
      const other = subjectsOf(cluster).job(poolOf(helloOf(['de', 'en'])), 'first', 'job')
      expect(await queued()).toHaveLength(2)
      for (const index of order) {
        confirmations[index]!()
        // The server now learns that JetStream has stored a message of the job. The server may then send requests to
        // NATS, for example to remove this message. After these requests, it answers `hello` on the same connection. So
        // when the answer arrives, NATS has received the requests.
        await hello(['de'], { ready: false })
      }
      await until(async () => (await queued()).join() === other)
      fleet.ended('job')
      await until(async () => (await queued()).length === 0)
    }
  },
)

natsTest('a job that ends before JetStream has confirmed its message leaves no message', async () => {
  const { fleet, hello, passGerman, queued } = await open('unconfirmed')
  await hello(['de'])
  const put = JobStream.prototype.put
  const confirmed = Promise.withResolvers<void>()
  using _held = spyOn(JobStream.prototype, 'put').mockImplementation(async function (
    this: JobStream,
    ...job
  ) {
    const sequence = await put.apply(this, job)
    await confirmed.promise
    return sequence
  })
  passGerman()
  await until(async () => (await queued()).length === 1)
  fleet.ended('job')
  confirmed.resolve()
  await until(async () => (await queued()).length === 0)
})

natsTest('a sweep creates a queue, and a stream, that was removed while a job waits', async () => {
  const cluster = 'removed'
  const { fleet, manager, consumers, hello, passGerman, queued, queues } = await open(cluster)
  await hello(['de'])
  passGerman()
  await until(async () => (await queued()).length === 1 && (await queues()).length === 2)
  await consumers.delete(streamOf(cluster), first)
  fleet.sweep()
  await until(async () => (await queues()).length === 2)
  await manager.streams.delete(streamOf(cluster))
  fleet.sweep()
  await until(async () => (await queues()).length === 2 && (await queued()).length === 1)
  expect(await queued()).toEqual([subjectsOf(cluster).job(pool, 'first', 'job')])
})

natsTest('a sweep puts a job that a worker holds into a queue only after two leases of silence', async () => {
  const cluster = 'quiet'
  const { fleet, later, hello, passGerman, queued } = await open(cluster)
  await hello(['de'])
  passGerman('gpu-1/x')
  expect(fleet.hasRoomFor(german)).toBe(false)
  later(2 * hour - 1)
  await hello(['de'])
  fleet.sweep()
  // When this `hello` is answered, all earlier messages of the server have reached NATS.
  await hello(['de'])
  expect(await queued()).toEqual([])
  later(1)
  fleet.sweep()
  await until(async () => (await queued()).join() === subjectsOf(cluster).job(pool, 'again', 'job'))
})

natsTest('a waiting job stays in its queue although a pool with more free places can do it', async () => {
  const { fleet, hello, passGerman, queued } = await open('stays')
  await hello(['de'])
  passGerman()
  await until(async () => (await queued()).length === 1)
  await hello(['de', 'en'], { slots: 9 }, 'gpu-2')
  fleet.sweep()
  // When this `hello` is answered, all earlier messages of the server have reached NATS.
  await hello(['de'])
  expect(await queued()).toEqual([subjectsOf('stays').job(pool, 'first', 'job')])
})

natsTest('the holder of a job that ends gets an order to stop this claim', async () => {
  const { fleet, wire, passGerman } = await open('ended')
  const order = Promise.withResolvers<unknown>()
  wire.subscribe(subjectsOf('ended').stop('gpu-1'), {
    callback: (_error, message) => order.resolve(message.json()),
  })
  await wire.flush()
  passGerman('gpu-1/x')
  fleet.ended('job')
  expect(await order.promise).toEqual({ job: 'job', fence: 1 })
})

natsTest('a server that ends takes no further job', async () => {
  const { fleet } = await open('ending')
  const options = { signal: AbortSignal.abort(new Error('the server ends')), onSeconds() {} }
  const handOver = { jobId: 'late', worker: null, fence: 0, attempts: 0 }
  expect(() => fleet.transcribe(plainInput(), { ...options, handOver })).toThrow('the server ends')
})

natsTest('the end of a server is no refusal of JetStream', async () => {
  const { fleet, hello, passGerman } = await open('closed')
  using error = spyOn(log, 'error').mockImplementation(() => {})
  using put = spyOn(JobStream.prototype, 'put')
  await hello(['de'])
  passGerman()
  await fleet.close()
  // The connection ends before JetStream confirms the message, so `put` rejects. The server must log no error.
  await expect(put.mock.results[0]?.value).rejects.toThrow()
  expect(error.mock.calls).toEqual([])
})

natsTest('a fleet whose stream is full says so until no job waits, or until a job finds room', async () => {
  const cluster = 'full'
  const { fleet, manager, hello, passGerman, queued } = await open(cluster)
  using error = spyOn(log, 'error').mockImplementation(() => {})
  using info = spyOn(log, 'info').mockImplementation(() => {})
  await hello(['de'])
  const { config } = await manager.streams.info(streamOf(cluster))
  const limit = (max_bytes: number) => manager.streams.update(config.name, { ...config, max_bytes })
  let told = 0
  fleet.onReady(() => told++)
  await limit(1)
  passGerman()
  await until(() => fleet.fault() !== null)
  fleet.sweep()
  expect([fleet.fault() === null, told]).toEqual([false, 0])
  fleet.ended('job')
  fleet.sweep()
  expect([fleet.fault(), told]).toEqual([null, 1])
  passGerman()
  await until(() => fleet.fault() !== null)
  await limit(-1)
  fleet.sweep()
  await until(() => fleet.fault() === null)
  expect([(await queued()).length, told > 1]).toEqual([1, true])
  expect(error.mock.calls.map(([event]) => event)).toEqual(['hand-over refused', 'hand-over refused'])
  expect(info.mock.calls).toContainEqual(['hand-over works again'])
})

natsTest(
  'a waiting job whose queue cannot be created moves to another pool only if that pool can do it',
  async () => {
    const cluster = 'stuck'
    const { fleet, hello, queued } = await openStuck(cluster)
    const before = await queued()
    await hello(['en'], {}, 'gpu-2')
    await until(() => fleet.fault() === null)
    fleet.sweep()
    // When this `hello` is answered, all earlier messages of the server have reached NATS, so `queued` includes them.
    await hello(['en'], {}, 'gpu-2')
    expect(await queued()).toEqual(before)
    await hello(['en', 'de'], {}, 'gpu-3')
    const other = subjectsOf(cluster).job(poolOf(helloOf(['en', 'de'])), 'first', 'job')
    // The message goes into the new queue before it is removed from the old queue, so both may have it for a moment.
    await until(async () => {
      fleet.sweep()
      return (await queued()).join() === other
    })
  },
)

natsTest('a waiting job whose queues cannot be created goes to an own engine that can do it', async () => {
  // If `claim` is null, the server cannot take the job back, for example because the job has ended.
  let claim: number | null = null
  const { fleet, job, queued } = await openStuck('taken', { takeBack: () => claim })
  const taken: string[] = []
  let [canDo, hasRoom] = [false, true]
  fleet.own = { canDo: () => canDo, hasRoom: () => hasRoom, take: id => void taken.push(id) }
  fleet.sweep()
  canDo = true
  fleet.sweep()
  ;[claim, hasRoom] = [1, false]
  fleet.sweep()
  expect(taken).toEqual([])
  hasRoom = true
  fleet.sweep()
  expect(taken).toEqual(['job'])
  expect(await job.catch(error => error)).toBeInstanceOf(TakenBack)
  await until(async () => (await queued()).length === 0)
})

natsTest('a sweep removes the queues of a pool without present or remembered workers', async () => {
  const { fleet, later, hello, queues } = await open('forgotten')
  using closed = spyOn(JobStream.prototype, 'closePool')
  await hello(['en'], { session: 'y' })
  await hello(['de'])
  fleet.sweep()
  expect(closed).not.toHaveBeenCalled()
  await until(async () => (await queues()).length === 4)
  later(hour + 1)
  fleet.sweep()
  // The workers with the same model and languages are a pool, which has its own queues. For a day, the server remembers
  // each worker name with its last pool. The worker `gpu-1` was first in the pool for `en`, and then in the pool for
  // `de`. So no remembered worker belongs to the pool for `en`, and `fleet.sweep` removes its queues. A day later, the
  // server has forgotten `gpu-1`, so `fleet.sweep` removes the queues of the pool for `de` too.
  await until(async () => (await queues()).length === 2)
  expect(await queues()).toEqual([again, first])
  later(24 * hour)
  fleet.sweep()
  await until(async () => (await queues()).length === 0)
  fleet.sweep()
  expect(closed).toHaveBeenCalledTimes(2)
  await hello(['de'])
  await until(async () => (await queues()).length === 2)
})

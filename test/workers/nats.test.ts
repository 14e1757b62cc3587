// Tests the server and its workers when NATS is unreachable, or has lost its data. Also tests NATS without JetStream
// (its message store), with a full JetStream, and with another program's stream under steno's name.

import { expect, spyOn } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { AckPolicy, jetstreamManager, RetentionPolicy } from '@nats-io/jetstream'
import { log } from '../../src/base/log.ts'
import { limits } from '../../src/limits.ts'
import type { ModelsAnswer } from '../../src/workers/answers.ts'
import * as connection from '../../src/workers/connection.ts'
import { pull } from '../../src/workers/delivery.ts'
import { Link } from '../../src/workers/link.ts'
import { Presence } from '../../src/workers/presence.ts'
import { bytesOf, protocol } from '../../src/workers/requests.ts'
import { consumerOf, subjectsOf } from '../../src/workers/subjects.ts'
import { steeredEngine } from '../support/engine.ts'
import { charges, startFleet, until } from '../support/fleet.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startLossyProxy } from '../support/lossy-proxy.ts'
import { natsTest, startNats } from '../support/nats.ts'
import { startTestService } from '../support/service.ts'
import { startWorker } from '../support/workers.ts'

const { openNats } = connection
const manage = (address: string) =>
  openNats({ address, credentials: null }, { name: 'test', inboxPrefix: '_INBOX' })

natsTest('a server that starts without NATS uses its own engine, and connects to NATS later', async () => {
  const nats = await startNats()
  await nats.kill()
  const own = steeredEngine()
  const service = await startTestService({
    program: null,
    parts: { engine: own },
    settings: { STENO_NATS: nats.url, STENO_RATE_LIMITS: 'off' },
  })
  const ana = service.account('ana')
  const id = await ana.transcribe()
  own.finish(await own.given(1), 'Here.')
  await ana.until(id, 'completed')
  const message = 'NATS cannot be used; the log says why.'
  await until(async () => (await service.fetch('/v1/ready')).body.workers.message === message)
  const { status, body } = await service.fetch('/v1/ready')
  expect([status, body.workers]).toEqual([200, { connected: false, message, list: [] }])
  await nats.start()
  await until(async () => (await service.fetch('/v1/ready')).body.workers.connected)
  const { engine } = await startWorker({ nats: nats.url, server: service.url })
  await until(async () => (await service.fetch('/v1/ready')).body.workers.list.length === 1)
  await ana.transcribe()
  await own.given(2)
  await ana.transcribe()
  await engine.given(1)
})

natsTest(
  'a worker finishes its job while NATS is away, and delivers it when NATS is back',
  async () => {
    const folder = temporaryFolder()
    const nats = await startNats({ folder })
    const { service, startOwn } = await startFleet(nats.url)
    const ana = service.account('ana')
    const { engine } = await startOwn()
    const other = await startOwn('gpu-2')
    const id = await ana.transcribe()
    const isOther = (await Promise.race([engine.given(1), other.engine.given(1).then(() => null)])) === null
    const [busy, idle] = isOther ? [other.engine, engine] : [engine, other.engine]
    await nats.kill()
    busy.finish(await busy.given(1), 'Kept.')
    // The removed data contains steno's stream, so steno must create the stream again.
    rmSync(join(folder, 'js'), { recursive: true })
    const waiting = await ana.transcribe()
    await ana.until(waiting, 'pending')
    await nats.start()
    expect((await ana.until(id, 'completed')).result.full_transcript).toBe('Kept.')
    busy.given(2).then(task => busy.finish(task))
    idle.given(1).then(task => idle.finish(task))
    await ana.until(waiting, 'completed')
    expect([charges(service, id), charges(service, waiting)]).toEqual([
      ['reserve', 'settle'],
      ['reserve', 'settle'],
    ])
  },
  30_000,
)

natsTest('a waiting worker gets a job as soon as its connection to NATS is back', async () => {
  const nats = await startNats()
  let asked = 0
  const proxy = await startLossyProxy(nats.port, (from, bytes) => {
    if (from === 'caller' && `${bytes}`.includes('CONSUMER.MSG.NEXT')) asked++
  })
  const { service, cluster } = await startFleet(nats.url, { STENO_WORKER_LEASE: '1m' })
  const address = `nats://127.0.0.1:${proxy.port}`
  const { engine } = await startWorker({ nats: address, server: service.url, cluster })
  await until(() => asked > 0)
  proxy.cut()
  const cutAt = performance.now()
  await service.account('ana').transcribe()
  await engine.given(1)
  // When the connection broke, a request of the worker for a job was waiting at NATS. This request gets no answer.
  // After the reconnect, the worker must soon send a new one. It must not wait for the timeout of the old request,
  // which is `workerPullMs` plus `workerRequestMs`.
  expect(performance.now() - cutAt).toBeLessThan(limits.workerPullMs + limits.workerRequestMs)
  proxy.close()
})

// After a short break, JetStream may still answer the request for a job that the worker sent before the break. The
// worker has given up this request, so it does not do the job of such a late answer. It gives the job back, and
// JetStream delivers the job again at once, as the answer to a new request.
natsTest('after a short break of the connection, a job goes to the worker at once', async () => {
  const nats = await startNats()
  let [asked, connected] = [0, 0]
  const proxy = await startLossyProxy(nats.port, (from, bytes) => {
    if (from !== 'caller') return
    if (`${bytes}`.includes('"expires"')) asked++
    if (`${bytes}`.includes('CONNECT {')) connected++
  })
  const { service, cluster } = await startFleet(nats.url, { STENO_WORKER_LEASE: '1m' })
  const address = `nats://127.0.0.1:${proxy.port}`
  const { engine } = await startWorker({ nats: address, server: service.url, cluster })
  await until(() => asked > 0)
  // In this pause, the worker's request for a job reaches NATS.
  await Bun.sleep(50)
  proxy.cut()
  await until(() => connected > 1)
  const backAt = performance.now()
  await service.account('ana').transcribe()
  await engine.given(1)
  // JetStream delivers a lost message again only after `workerKeepMs`. The worker got the job in less time, so the
  // message of the job was not lost.
  expect(performance.now() - backAt).toBeLessThan(limits.workerKeepMs)
  proxy.close()
})

natsTest(
  'a job that is lost on its way to a worker is soon delivered again',
  async () => {
    const nats = await startNats()
    let lostAt = 0
    const proxy = await startLossyProxy(nats.port, (from, bytes) => {
      if (from === 'caller' || lostAt > 0 || !`${bytes}`.includes('$JS.ACK.')) return
      lostAt = performance.now()
      proxy.cut()
    })
    const { service, cluster } = await startFleet(nats.url, { STENO_WORKER_LEASE: '1m' })
    const address = `nats://127.0.0.1:${proxy.port}`
    const { engine } = await startWorker({ nats: address, server: service.url, cluster })
    await service.account('ana').transcribe()
    await engine.given(1)
    expect(lostAt).toBeGreaterThan(0)
    // JetStream delivered the lost job again within 30 s. So it did not wait for the worker lease of one minute.
    expect(performance.now() - lostAt).toBeLessThan(6 * limits.workerKeepMs)
    proxy.close()
  },
  90_000,
)

// JetStream does not answer a request to a queue that does not exist. A worker that sent such a request would wait for
// the answer for 10 s or more.
natsTest('after an outage, a worker asks for no job before the server has created the queues', async () => {
  const folder = temporaryFolder()
  const nats = await startNats({ folder })
  const near = await startLossyProxy(nats.port)
  let sent = ''
  const far = await startLossyProxy(nats.port, (from, bytes) => {
    if (from === 'caller') sent += `${bytes}`
  })
  const { service, cluster } = await startFleet(`nats://127.0.0.1:${near.port}`, { STENO_WORKER_LEASE: '1m' })
  const address = `nats://127.0.0.1:${far.port}`
  const { engine } = await startWorker({ nats: address, server: service.url, cluster })
  await until(() => sent.includes('CONSUMER.MSG.NEXT'))
  await nats.kill()
  rmSync(join(folder, 'js'), { recursive: true })
  // The proxy `near` holds the messages from NATS to the server, so the worker reaches NATS before the server does.
  const release = near.hold()
  sent = ''
  await nats.start()
  const asks = () => sent.includes('CONSUMER.MSG.NEXT')
  // A worker may ask for a job only after the server has answered a `hello`. After a reconnect, the worker sends
  // `hello` messages until the server answers, the third one after 300 ms. Every 100 ms, the worker checks whether it
  // may ask for a job. A worker that does not wait for the answer would thus ask before the third `hello`.
  await until(() => asks() || sent.split('.hello').length > 3)
  expect(asks()).toBe(false)
  release()
  await service.account('ana').transcribe()
  await engine.given(1)
  near.close()
  far.close()
})

natsTest(
  'a worker without its server sends as many messages after several outages as after one',
  async () => {
    const nats = await startNats()
    let [greetings, connected] = [0, 0]
    const proxy = await startLossyProxy(nats.port, (from, bytes) => {
      if (from !== 'caller') return
      greetings += `${bytes}`.split('PUB steno.main.from.gpu-1.hello').length - 1
      if (`${bytes}`.includes('CONNECT {')) connected++
    })
    await startWorker({ nats: `nats://127.0.0.1:${proxy.port}`, server: 'http://127.0.0.1:1' })
    for (let outages = 1; outages <= 5; outages++) {
      proxy.cut()
      await until(() => connected > outages)
    }
    greetings = 0
    await Bun.sleep(2500)
    // The count begins after the last outage. No server answers here. So after an outage, the worker sends a `hello` at
    // once, and again after pauses of 0.1, 0.2, 0.4 and 0.8 s. The next pause, 1.6 s, ends only after the 2.5 s of the
    // test. So the last outage causes at most 5 messages. The regular messages of the worker, one every 1.7 s, add at
    // most 2, which gives the limit of 7. An outage must end the series of messages that the previous outage started.
    // Otherwise the earlier series would add more messages.
    expect(greetings).toBeLessThanOrEqual(7)
    proxy.close()
  },
  20_000,
)

for (const kind of ['claim', 'beat', 'result'])
  natsTest(
    `the connection breaks during a ${kind}, and the job goes on when the connection is back`,
    async () => {
      const nats = await startNats()
      const broken = Promise.withResolvers<number>()
      let cuts = 0
      const proxy = await startLossyProxy(nats.port, (from, bytes) => {
        if (from !== 'caller' || !`${bytes}`.includes(`gpu-1.${kind}`) || cuts++ > 0) return
        proxy.cut()
        broken.resolve(performance.now())
      })
      const { service, cluster } = await startFleet(nats.url, { STENO_WORKER_LEASE: '1m' })
      const address = `nats://127.0.0.1:${proxy.port}`
      const { engine } = await startWorker({ nats: address, server: service.url, cluster })
      const ana = service.account('ana')
      const id = await ana.transcribe()
      const task = await engine.given(1)
      if (kind !== 'result') await broken.promise
      engine.finish(task)
      await ana.until(id, 'completed')
      // The request that was open when the connection broke gets no answer. The job must still complete within
      // `workerRequestMs`, the longest timeout of a request.
      expect(performance.now() - (await broken.promise)).toBeLessThan(limits.workerRequestMs)
      expect([engine.tasks.length, charges(service, id)]).toEqual([1, ['reserve', 'settle']])
      proxy.close()
    },
  )

natsTest('an idle worker drains even if NATS is away', async () => {
  const nats = await startNats()
  const { service, startOwn } = await startFleet(nats.url)
  const { worker } = await startOwn()
  await until(async () => (await service.fetch('/v1/ready')).body.workers.list[0]?.ready)
  await nats.kill()
  await worker.drain()
})

natsTest(
  'the drain of a worker with a finished job ends even if NATS is away, and the job is done again',
  async () => {
    const nats = await startNats()
    const { service, startOwn } = await startFleet(nats.url)
    const ana = service.account('ana')
    const { engine, worker } = await startOwn()
    const id = await ana.transcribe()
    const task = await engine.given(1)
    await nats.kill()
    using warn = spyOn(log, 'warn').mockImplementation(() => {})
    const ended = worker.drain()
    // A worker continues its job without NATS.
    await Bun.sleep(3000)
    expect(warn.mock.calls.flat()).not.toContain('job left')
    engine.finish(task)
    const finishedAt = performance.now()
    await ended
    // After the end of its work, the worker waits two worker leases (2 s) for the server. The earlier time without NATS
    // does not count.
    expect(performance.now() - finishedAt).toBeGreaterThan(2000)
    // The server runs in this process too, so other warnings may come from the server.
    expect(warn.mock.calls).toContainEqual([
      'job left',
      { job_id: id, reason: 'the server does not answer, and this worker ends' },
    ])
    await nats.start()
    const next = await startOwn('gpu-2')
    next.engine.finish(await next.engine.given(1))
    await ana.until(id, 'completed')
    expect(charges(service, id)).toEqual(['reserve', 'settle'])
  },
  30_000,
)

natsTest('a worker sends no request for a job while its connection to NATS is broken', async () => {
  const nats = await startNats()
  const wire = await manage(nats.url)
  const request = { pool: 'pool', priority: 'first', waitMs: 500, lost: AbortSignal.abort() } as const
  const before = wire.stats().outMsgs
  expect(await pull(wire, 'main', request)).toBeNull()
  expect(wire.stats().outMsgs).toBe(before)
  await wire.close()
})

// By default, a queue takes 512 waiting requests, but in this test only one.
natsTest('a request for a job is rejected if too many requests wait at its queue', async () => {
  const nats = await startNats()
  const wire = await manage(nats.url)
  const { streams, consumers } = await jetstreamManager(wire)
  await streams.add({ name: 'STENO_main', subjects: ['steno.main.jobs.>'] })
  const durable_name = consumerOf('pool', 'first')
  await consumers.add('STENO_main', { durable_name, ack_policy: AckPolicy.Explicit, max_waiting: 1 })
  const { signal: lost } = new AbortController()
  const ask = (waitMs: number) => pull(wire, 'main', { pool: 'pool', priority: 'first', waitMs, lost })
  const waiting = ask(200)
  await expect(ask(200)).rejects.toThrow('Exceeded MaxWaiting')
  expect([await waiting, await ask(0)]).toEqual([null, null])
  await wire.close()
})

natsTest('the server changes no stream of another program, and connects after its deletion', async () => {
  const nats = await startNats()
  const connection = await manage(nats.url)
  const manager = await jetstreamManager(connection)
  const theirs = { name: 'STENO_main', subjects: ['theirs.>'], retention: RetentionPolicy.Limits }
  await manager.streams.add(theirs)
  const { service } = await startFleet(nats.url, { STENO_CLUSTER: 'main' })
  const ana = service.account('ana')
  const id = await ana.transcribe()
  await ana.until(id, 'pending')
  expect((await service.fetch('/v1/ready')).status).toBe(503)
  const { config } = await manager.streams.info('STENO_main')
  expect([config.subjects, config.retention]).toEqual([['theirs.>'], RetentionPolicy.Limits])
  await manager.streams.delete('STENO_main')
  await until(async () => (await service.fetch('/v1/ready')).body.workers.connected)
  await connection.close()
})

natsTest(
  'while JetStream has no room, jobs wait, and they go out when there is room',
  async () => {
    const nats = await startNats()
    const { service, cluster, startOwn } = await startFleet(nats.url)
    const ana = service.account('ana')
    const { engine } = await startOwn()
    await until(async () => (await service.fetch('/v1/ready')).body.workers.list[0]?.ready)
    const connection = await manage(nats.url)
    const manager = await jetstreamManager(connection)
    const { config } = await manager.streams.info(`STENO_${cluster}`)
    await manager.streams.update(config.name, { ...config, max_bytes: 1 })
    const ids = [await ana.transcribe(), await ana.transcribe()]
    await until(async () => !(await service.fetch('/v1/ready')).body.workers.connected)
    await manager.streams.update(config.name, { ...config, max_bytes: -1 })
    for (const [index, id] of ids.entries()) {
      engine.finish(await engine.given(index + 1))
      await ana.until(id, 'completed')
    }
    await connection.close()
  },
  30_000,
)

natsTest('jobs go out when JetStream has room again, even if the refused job was cancelled', async () => {
  const nats = await startNats()
  const { service, cluster, startOwn } = await startFleet(nats.url)
  const ana = service.account('ana')
  const { engine } = await startOwn()
  const isConnected = async () => (await service.fetch('/v1/ready')).body.workers.connected
  await until(async () => (await service.fetch('/v1/ready')).body.workers.list[0]?.ready)
  const connection = await manage(nats.url)
  const manager = await jetstreamManager(connection)
  const { config } = await manager.streams.info(`STENO_${cluster}`)
  await manager.streams.update(config.name, { ...config, max_bytes: 1 })
  const refused = await ana.transcribe()
  await until(async () => !(await isConnected()))
  await ana.post(`/v1/transcribe/${refused}/cancel`)
  await manager.streams.update(config.name, { ...config, max_bytes: -1 })
  const id = await ana.transcribe()
  engine.finish(await engine.given(1))
  await ana.until(id, 'completed')
  expect(await isConnected()).toBe(true)
  await connection.close()
})

natsTest('a second server of the same cluster waits until the first one has ended', async () => {
  const nats = await startNats()
  const proxy = await startLossyProxy(nats.port)
  const open = (port: number) => {
    const { promise: ready, resolve: onReady } = Promise.withResolvers<void>()
    const settings = {
      address: `nats://127.0.0.1:${port}`,
      credentials: null,
      cluster: 'main',
      leaseMs: 1000,
    }
    return { link: new Link(settings, { answer: async () => null, onReady }), ready }
  }
  const first = open(nats.port)
  await first.ready
  using warn = spyOn(log, 'warn').mockImplementation(() => {})
  using opened = spyOn(connection, 'openNats')
  const second = open(proxy.port)
  const found = () => warn.mock.calls.map(([, fields]) => fields?.reason)
  const reason = 'another server uses the cluster main: choose another STENO_CLUSTER'
  await until(() => warn.mock.calls.length > 0)
  expect([first.link.fault(), second.link.fault()]).toEqual([null, expect.stringContaining('NATS')])
  const refused = (await opened.mock.results[0]?.value) as connection.NatsConnection
  expect(refused.isClosed()).toBe(true)
  await first.link.close()
  await second.ready
  // While the connection of the second server is broken, another server starts.
  const release = proxy.hold()
  proxy.cut()
  await until(() => second.link.fault() !== null)
  const third = open(nats.port)
  await third.ready
  release()
  await until(() => warn.mock.calls.length > 2)
  expect(found()).toEqual([reason, 'the connection broke off', reason])
  await second.link.close()
  // A job may end after the link to NATS is closed. The order to stop the job is then lost, but `publish` must not
  // throw.
  second.link.publish(subjectsOf('main').stop('gpu-1'), bytesOf({}))
  await third.link.close()
  proxy.close()
  // A server may also end while it connects to NATS. `close` must work then too.
  await open(nats.port).link.close()
})

/**
 * Opens a server's link to NATS. The link answers no request of a worker. `ready` resolves when the link is usable for
 * the first time.
 */
function openLink(address: string, cluster = 'main'): { link: Link; ready: Promise<void> } {
  const { promise: ready, resolve: onReady } = Promise.withResolvers<void>()
  const settings = { address, credentials: null, cluster, leaseMs: 300 }
  return { link: new Link(settings, { answer: async () => null, onReady }), ready }
}

natsTest('of servers of one cluster that connect at the same time, one serves', async () => {
  const nats = await startNats()
  using warn = spyOn(log, 'warn').mockImplementation(() => {})
  const clusters = ['a', 'b', 'c', 'd', 'e', 'f']
  const found = await Promise.all(
    clusters.map(async cluster => {
      const pair = [openLink(nats.url, cluster), openLink(nats.url, cluster)]
      await Promise.race(pair.map(({ ready }) => ready))
      const reason = `another server uses the cluster ${cluster}: choose another STENO_CLUSTER`
      await until(() => warn.mock.calls.some(([, fields]) => fields?.reason === reason))
      const usable = pair.filter(({ link }) => link.fault() === null)
      for (const { link } of pair) await link.close()
      return usable.length
    }),
  )
  expect(found).toEqual(clusters.map(() => 1))
})

natsTest(
  'of two servers of one cluster whose first questions were lost, the later one steps back',
  async () => {
    const nats = await startNats()
    const first = openLink(nats.url)
    await first.ready
    using warn = spyOn(log, 'warn').mockImplementation(() => {})
    using ask = spyOn(Presence.prototype, 'ask').mockImplementation(async () => {})
    const second = openLink(nats.url)
    await second.ready
    expect([first.link.fault(), second.link.fault()]).toEqual([null, null])
    ask.mockRestore()
    await until(() => second.link.fault() !== null)
    const reason = 'another server uses the cluster main: choose another STENO_CLUSTER'
    await until(() => warn.mock.calls.some(([, fields]) => fields?.reason === reason))
    expect(first.link.fault()).toBeNull()
    // A server asks the other servers of its cluster whether it may serve. A server of an older version sends an empty
    // message as this question. The server `first` must answer it, so that the older server does not serve. The answer
    // is always empty.
    const older = await openNats(
      { address: nats.url, credentials: null },
      { name: 'older', inboxPrefix: subjectsOf('main').serverInbox },
    )
    expect((await older.request(subjectsOf('main').serverPresence)).data).toHaveLength(0)
    await older.close()
    await first.link.close()
    await second.link.close()
  },
)

natsTest(
  'an answer that is too large for NATS is not sent, and the next request gets its answer',
  async () => {
    const nats = await startNats()
    const ready = Promise.withResolvers<void>()
    const tokens = ['x'.repeat(2 ** 21), 'token']
    const link = new Link(
      { address: nats.url, credentials: null, cluster: 'main', leaseMs: 1000 },
      {
        answer: async () => ({ kind: 'models', token: tokens.shift() ?? '' }) as never,
        onReady: ready.resolve,
      },
    )
    await ready.promise
    const subjects = subjectsOf('main')
    const worker = await openNats(
      { address: nats.url, credentials: null },
      { name: 'gpu-1', inboxPrefix: subjects.inbox('gpu-1') },
    )
    const ask = () => worker.request(subjects.request('gpu-1', 'models'), bytesOf({ protocol }))
    using warn = spyOn(log, 'warn').mockImplementation(() => {})
    const unanswered = ask().then(
      () => 'answered',
      () => 'unanswered',
    )
    expect((await ask()).json<ModelsAnswer>().token).toBe('token')
    await worker.close()
    expect(await unanswered).toBe('unanswered')
    const fields = { worker: 'gpu-1', kind: 'models', error: expect.any(String) }
    expect(warn.mock.calls).toContainEqual([
      'request of a worker not answered',
      expect.objectContaining(fields),
    ] as never)
    await link.close()
  },
)

natsTest('with NATS without JetStream, a job waits and does not fail', async () => {
  const nats = await startNats({ jetstream: false })
  const { service } = await startFleet(nats.url)
  const ana = service.account('ana')
  const id = await ana.transcribe()
  await ana.until(id, 'pending')
  expect((await service.fetch('/v1/ready')).body.workers.connected).toBe(false)
})

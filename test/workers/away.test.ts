// Tests what happens to a job that only some workers can do, usually while these workers are silent. A test controls
// the server's clock. Most tests start no worker. Instead, they send the message `hello`, with which a worker tells the
// server that it is there and what it can do.

import { expect, spyOn } from 'bun:test'
import { log } from '../../src/base/log.ts'
import { JobFailure, jobErrors } from '../../src/errors.ts'
import { findJob } from '../../src/jobs/job.ts'
import { limits } from '../../src/limits.ts'
import { poolOf } from '../../src/workers/pools.ts'
import { protocol } from '../../src/workers/requests.ts'
import { JobStream } from '../../src/workers/stream.ts'
import { subjectsOf } from '../../src/workers/subjects.ts'
import { connect, openFleet } from '../support/bare-fleet.ts'
import { steeredEngine } from '../support/engine.ts'
import { charges, helloOf, startFleet, until } from '../support/fleet.ts'
import { natsTest, sharedNats } from '../support/nats.ts'

const nats = sharedNats()

const hour = 3_600_000
const german = { language: 'de' }
const both = ['en', 'de']
const claim = { protocol, session: 'x', job: 'job', sequence: 1 }

/**
 * Starts a server with a worker lease of an hour. The server's own engine knows only English, and does one job at a
 * time.
 */
async function start(settings: Record<string, string> = {}, dataDir?: string) {
  const sides = { STENO_WORKERS: '1', STENO_WORKER_LEASE: '1h', ...settings }
  const own = { ...steeredEngine(), languages: () => ['en'] }
  const { service, cluster, startOwn } = await startFleet(nats.url, sides, dataDir, own)
  const workers = async () => (await service.fetch('/v1/ready')).body.workers
  await until(async () => (await workers()).connected)
  const list = async () => (await workers()).list
  return { service, startOwn, ...(await connect(nats.url, cluster)), list, own }
}

/**
 * Submits a job in German to a server. The only worker for German has been silent for longer than its lease of an hour.
 * Waits until the job is pending.
 */
async function submitGerman({
  service,
  hello,
}: Pick<Awaited<ReturnType<typeof start>>, 'service' | 'hello'>) {
  const ana = service.account('ana')
  await hello(both)
  service.later(hour + 1)
  const id = await ana.transcribe(undefined, german)
  await ana.until(id, 'pending')
  return { ana, id }
}

natsTest(
  'a job that only a silent worker can do waits for this worker, and is done when it is back',
  async () => {
    const { service, own, startOwn, hello, list } = await start()
    const { ana, id } = await submitGerman({ service, hello })
    service.later(22 * hour)
    expect((await ana.job(id)).status).toBe('pending')
    expect(await list()).toMatchObject([{ name: 'gpu-1', ready: false, jobs: 0 }])
    expect((await service.fetch('/v1')).body.languages).toContainEqual({ code: 'de', served: true })
    expect(own.tasks).toHaveLength(0)
    const { engine } = await startOwn('gpu-1', { ...steeredEngine(), languages: () => both })
    engine.finish(await engine.given(1))
    await ana.until(id, 'completed')
    expect(charges(service, id)).toEqual(['reserve', 'settle'])
  },
)

natsTest(
  'a job goes to the own engine if the only worker that could do it has been silent for a day',
  async () => {
    const { service, own, hello, list } = await start()
    await submitGerman({ service, hello })
    service.later(23 * hour)
    expect((await own.given(1)).input.language).toBe('de')
    expect(await list()).toEqual([])
  },
)

natsTest('jobs that only workers can do wait also when the server starts without these workers', async () => {
  const cluster = { STENO_CLUSTER: 'restarted' }
  const first = await start(cluster)
  const { id } = await submitGerman(first)
  await first.service.stop()
  const { service, own, list } = await start(cluster, first.service.dataDir)
  service.later(2 * hour)
  expect(await list()).toMatchObject([{ name: 'gpu-1', ready: false }])
  expect(findJob(service.db, id)?.state).toBe('pending')
  expect(own.tasks).toHaveLength(0)
})

natsTest('a job that a restart interrupted waits for its worker too', async () => {
  const cluster = { STENO_CLUSTER: 'interrupted' }
  const first = await start(cluster)
  const ana = first.service.account('ana')
  await first.hello(both)
  const id = await ana.transcribe(undefined, german)
  await ana.until(id, 'processing')
  first.service.later(0)
  await first.service.stop()
  const { service, own, hello } = await start(cluster, first.service.dataDir)
  service.later(2 * hour)
  expect(own.tasks).toHaveLength(0)
  await hello(['en'])
  service.later(0)
  await own.given(1)
})

natsTest('a job that the own engine can do waits until this engine has loaded its model', async () => {
  const { service, own, hello } = await start()
  const ana = service.account('ana')
  service.later(hour + 1)
  own.setReady(false)
  await hello(['de'])
  const id = await ana.transcribe(undefined, { language: 'en' })
  await ana.until(id, 'pending')
  own.setReady(true)
  own.finish(await own.given(1))
  await ana.until(id, 'completed')
})

natsTest('a server that starts waits one lease before its own engine gets a job for workers', async () => {
  const { service, own } = await start()
  const ana = service.account('ana')
  const id = await ana.transcribe(undefined, german)
  await ana.until(id, 'pending')
  expect(own.tasks).toHaveLength(0)
  service.later(hour + 1)
  await own.given(1)
})

natsTest('a job waits no longer for a worker that comes back with another model', async () => {
  const { service, own, hello } = await start()
  const { ana, id } = await submitGerman({ service, hello })
  await hello([], { session: 'y', ready: false })
  service.later(0)
  expect((await ana.job(id)).status).toBe('pending')
  await hello(['en'], { session: 'y' })
  service.later(0)
  await own.given(1)
})

natsTest('until its silent holder is forgotten, a job goes only to workers that can do it', async () => {
  const cluster = 'held'
  const { fleet, later, hello, passGerman, queued } = await openFleet(nats.url, cluster)
  const laterWith = async (ms: number, ...known: string[][]) => {
    later(ms)
    for (const languages of known) await hello(languages, {}, `gpu-${languages.length}`)
    fleet.sweep()
    // `queued` lists the messages in the queues of NATS, and `sweep` may just have sent one. The server answers this
    // `hello` after all its earlier messages. So after the answer, NATS has these messages, and `queued` lists them.
    await hello(['en'])
  }
  const subject = (languages: string[]) => subjectsOf(cluster).job(poolOf(helloOf(languages)), 'again', 'job')
  await laterWith(hour + 1, both, ['en'])
  passGerman('gpu-2/x')
  await laterWith(2 * hour, ['en'])
  expect(await queued()).toEqual([])
  await laterWith(0, both)
  await until(async () => (await queued()).length > 0)
  expect(await queued()).toEqual([subject(both)])
  // The server forgets the worker for German after a day. Then no known worker can do the job. Now a worker without
  // German gets the job and fails it with an error. Otherwise the job would wait for ever.
  await laterWith(25 * hour, ['en'])
  await until(async () => (await queued()).includes(subject(['en'])))
})

natsTest('a job that the only worker of its pool has broken off goes to another pool', async () => {
  const cluster = 'broken-off'
  let fence = 0
  const { hello, ask, passGerman, queued } = await openFleet(nats.url, cluster, {
    claim: () => ({ fence: ++fence, attempts: fence }),
    find: () => ({ fence, isOver: false }),
  })
  const subject = (languages: string[], priority: 'first' | 'again') =>
    subjectsOf(cluster).job(poolOf(helloOf(languages)), priority, 'job')
  await hello(both, { slots: 2 }, 'gpu-1')
  await hello(['de'], {}, 'gpu-2')
  passGerman()
  await until(async () => (await queued()).join() === subject(both, 'first'))
  const claimed = await ask('claim', { ...claim, delivery: 1 })
  if (claimed.kind !== 'yours') throw new Error(claimed.kind)
  const held = { session: 'x', job: 'job', fence, token: claimed.token }
  // The engine of the worker `gpu-1` crashes, but the worker stays ready. So its pool (workers with the same models and
  // languages) still has a ready worker. The job must nevertheless go to the other pool. `again` means that the job is
  // tried again. `later` means that `gpu-1` does not get the job now.
  const failure = { code: 'PROCESSING_ERROR', message: jobErrors.PROCESSING_ERROR }
  expect(await ask('result', { ...held, failure })).toEqual({ kind: 'again' })
  expect(await ask('claim', { ...claim, delivery: 2 })).toMatchObject({ kind: 'later' })
  await until(async () => (await queued()).join() === subject(['de'], 'again'))
})

natsTest(
  'a job fails when its fourth worker is silent for two leases, although no other worker claims it',
  async () => {
    const { fleet, later, hello, ask, passGerman, queued } = await openFleet(nats.url, 'fourth', {
      claim: () => ({ fence: 4, attempts: limits.workerAttemptsMax }),
      takeBack: () => null,
      find: () => null,
    })
    await hello(['de'])
    let failure: unknown = null
    passGerman().catch(error => {
      failure = error
    })
    await until(async () => (await queued()).length === 1)
    expect(await ask('claim', { ...claim, delivery: 1 })).toMatchObject({ kind: 'yours' })
    later(2 * hour - 1)
    fleet.sweep()
    expect(await queued()).toHaveLength(1)
    expect(failure).toBeNull()
    later(1)
    fleet.sweep()
    await until(async () => (await queued()).length === 0)
    expect(failure).toEqual(new JobFailure('PROCESSING_ERROR'))
  },
)

// A worker sends a large result by HTTP. During this time, its only messages about the job are its messages `hello`,
// which list its jobs. They must be enough to keep the job.
natsTest('a worker keeps its job by its messages hello alone', async () => {
  const { fleet, later, hello, passGerman } = await openFleet(nats.url, 'kept')
  passGerman('gpu-1/x')
  const waitingAfterHello = async (fence: number) => {
    later(0.6 * hour)
    await hello(['de'], { jobs: [{ job: 'job', fence }] })
    return fleet.waitingJobs().length
  }
  const counts = []
  for (const fence of [1, 1, 2, 2]) counts.push(await waitingAfterHello(fence))
  expect(counts).toEqual([0, 0, 0, 1])
})

natsTest('the log distinguishes a worker that stopped from a worker that is silent', async () => {
  const { fleet, later, hello } = await openFleet(nats.url, 'logged')
  await hello(both, {}, 'gpu-1')
  await hello(both, { ready: false }, 'gpu-2')
  await hello(both, { ready: false, jobs: [{ job: 'job', fence: 1 }] }, 'gpu-3')
  later(hour + 1)
  using warn = spyOn(log, 'warn').mockImplementation(() => {})
  using info = spyOn(log, 'info').mockImplementation(() => {})
  fleet.sweep()
  const silent = (worker: string, jobs: number) => ['worker silent', { worker, jobs }]
  expect(warn.mock.calls).toEqual([silent('gpu-1', 0), silent('gpu-3', 1)] as typeof warn.mock.calls)
  expect(info.mock.calls).toEqual([['worker left', { worker: 'gpu-2' }]])
})

natsTest('the log names a worker each time it becomes ready, and a refused worker once', async () => {
  const { hello } = await openFleet(nats.url, 'greeted')
  using warn = spyOn(log, 'warn').mockImplementation(() => {})
  using info = spyOn(log, 'info').mockImplementation(() => {})
  using opened = spyOn(JobStream.prototype, 'openPool')
  for (const ready of [true, true, false, true]) await hello(['de'], { ready })
  const worker = { worker: 'gpu-1', device: 'none', model: 'steered', slots: 1, version: '1' }
  expect(info.mock.calls).toEqual([
    ['worker ready', worker],
    ['worker ready', worker],
  ])
  expect(opened).toHaveBeenCalledTimes(2)
  const old = { session: 'old', protocol: protocol + 1 }
  const { kind, message } = (await hello(['de'], old)).json<{ kind: string; message: string }>()
  await hello(['de'], old)
  expect([kind, message]).toEqual(['refused', expect.stringContaining('install the version of the server')])
  expect(warn.mock.calls).toEqual([['worker refused', { worker: 'gpu-1', reason: message }]])
})

natsTest('a job that waits without a worker goes into a queue as soon as a worker is ready', async () => {
  const { hello, passGerman, queued } = await openFleet(nats.url, 'first-worker')
  passGerman()
  passGerman('gpu-2/x', 'held')
  await hello(['de'])
  await until(async () => (await queued()).length > 0)
  await hello(['de'])
  expect(await queued()).toEqual([subjectsOf('first-worker').job(poolOf(helloOf(['de'])), 'first', 'job')])
})

// Tests how jobs are passed to workers, with a real nats-server, a real server, and engines that the test controls.
// Each test with nats-server has its own cluster.

import { expect, test } from 'bun:test'
import { type ConsumerInfo, jetstreamManager } from '@nats-io/jetstream'
import { addressesOf } from '../../src/workers/addresses.ts'
import { openNats } from '../../src/workers/connection.ts'
import { bytesOf, type Claim, protocol } from '../../src/workers/requests.ts'
import { streamOf, subjectsOf } from '../../src/workers/subjects.ts'
import { findCommand } from '../support/command.ts'
import { type SteeredEngine, steeredEngine, transcriptOf } from '../support/engine.ts'
import { eventsOf } from '../support/event-source.ts'
import { charges, startFleet, until } from '../support/fleet.ts'
import { temporaryFolder } from '../support/folder.ts'
import { natsTest, sharedNats } from '../support/nats.ts'
import { startTestService } from '../support/service.ts'
import { startWorker } from '../support/workers.ts'

const nats = sharedNats()
const startServer = (settings?: Record<string, string>, dataDir?: string) =>
  startFleet(nats.url, settings, dataDir)

/** Returns the state of the queues of a cluster. Returns an empty array before the server has created the stream. */
async function queuesOf(cluster: string): Promise<ConsumerInfo[]> {
  const wire = await openNats(
    { address: nats.url, credentials: null },
    { name: 'look', inboxPrefix: '_INBOX' },
  )
  const { consumers } = await jetstreamManager(wire)
  const queues = await Array.fromAsync(consumers.list(streamOf(cluster))).catch(() => [])
  await wire.close()
  return queues
}

natsTest('a job waits in pending until a worker comes, and the worker completes it', async () => {
  const { service, startOwn } = await startServer()
  const ana = service.account('ana')
  const id = await ana.transcribe()
  await ana.until(id, 'pending')
  const message = async () => (await service.fetch('/v1/ready')).body.engine.message
  await until(async () => (await message()) === 'No worker is connected.')
  const { engine } = await startOwn()
  const task = await engine.given(1)
  expect(await Bun.file(task.input.path).text()).toBe('steno-test 60.000')
  expect((await ana.job(id)).status).toBe('processing')
  engine.finish(task, 'Good morning to you.')
  const job = await ana.until(id, 'completed')
  expect(job.result.full_transcript).toBe('Good morning to you.')
  expect(charges(service, id)).toEqual(['reserve', 'settle'])
  expect(await Bun.file(task.input.path).exists()).toBe(false)
})

natsTest('a worker gets the options of the job, and nothing of the account', async () => {
  const { service, startOwn } = await startServer()
  const ana = service.account('ana')
  const { engine } = await startOwn()
  await ana.transcribe(undefined, {
    language: 'de',
    diarize: true,
    prompt: 'Hallo.',
    vocabulary: ['Kubernetes'],
  })
  const { input } = await engine.given(1)
  const { path: _path, ...options } = input
  expect(options).toEqual({
    durationMs: 60_000,
    language: 'de',
    diarize: true,
    speakerCount: null,
    align: true,
    prompt: 'Hallo.',
    vocabulary: ['Kubernetes'],
    translate: false,
    channels: null,
    knownVoices: [],
  })
})

natsTest('progress and segments of a worker come in the event stream, and then the end', async () => {
  const { service, startOwn } = await startServer()
  const ana = service.account('ana')
  const { engine } = await startOwn()
  const id = await ana.transcribe()
  const { input, options, resolve } = await engine.given(1)
  const response = await fetch(`${service.url}/v1/transcribe/${id}/events`, {
    headers: { Authorization: `Bearer ${ana.key}` },
  })
  const { utterances } = transcriptOf(input, 'One.')
  const spoken = ['One.', 'Two.', 'Three.'].map(text => ({ ...utterances[0]!, text }))
  options.onSeconds(30)
  options.onUtterances?.(spoken.slice(0, 2), 0, 'en')
  await until(async () => (await ana.job(id)).progress_percent === 50)
  options.onUtterances?.(spoken.slice(2), 2, 'en')
  resolve({ ...transcriptOf(input, 'One. Two. Three.'), utterances: spoken })
  const events = await Array.fromAsync(eventsOf(response))
  const segments = events.filter(({ event }) => event === 'segment').map(({ data }) => data.text)
  expect(segments).toEqual(['One.', 'Two.', 'Three.'])
  expect(events.at(-1)?.data.status).toBe('completed')
})

natsTest('a cancelled job stops on its worker, and the worker takes the next job', async () => {
  const { service, startOwn } = await startServer()
  const ana = service.account('ana')
  const { engine } = await startOwn()
  const id = await ana.transcribe()
  const { options } = await engine.given(1)
  await ana.post(`/v1/transcribe/${id}/cancel`)
  await until(() => options.signal.aborted)
  await ana.transcribe()
  engine.finish(await engine.given(2))
})

natsTest(
  'a worker that drains takes no further job, even if it has already asked for one',
  async () => {
    const { service, cluster, startOwn } = await startServer({ STENO_WORKER_LEASE: '1h' })
    const ana = service.account('ana')
    const leaving = await startOwn('gpu-1')
    await until(async () => (await queuesOf(cluster)).some(queue => queue.num_waiting > 0))
    const drained = leaving.worker.drain()
    const id = await ana.transcribe()
    await drained
    const [listed] = (await service.fetch('/v1/ready')).body.workers.list
    expect(listed).toMatchObject({ name: 'gpu-1', ready: false, message: 'The worker stops.' })
    expect(leaving.engine.tasks).toHaveLength(0)
    const { engine } = await startOwn('gpu-2')
    engine.finish(await engine.given(1))
    await ana.until(id, 'completed')
  },
  15_000,
)

natsTest(
  'a job of a worker that goes away is done by another worker, and a late result is refused',
  async () => {
    const { service, cluster, startOwn } = await startServer()
    const ana = service.account('ana')
    const first = await startOwn('gpu-1')
    const id = await ana.transcribe()
    await first.engine.given(1)
    await first.stop()
    const second = await startOwn('gpu-2')
    const task = await second.engine.given(1)
    const wire = await openNats(
      { address: nats.url, credentials: null },
      { name: 'late', inboxPrefix: subjectsOf(cluster).inbox('gpu-1') },
    )
    const transcript = transcriptOf(task.input, 'Too late.')
    const late = { session: 'x', job: id, fence: 2, token: 'forged', transcript }
    const answer = await wire.request(subjectsOf(cluster).request('gpu-1', 'result'), bytesOf(late))
    expect(answer.json<{ kind: string }>().kind).toBe('refused')
    await wire.close()
    second.engine.finish(task, 'In time.')
    expect((await ana.until(id, 'completed')).result.full_transcript).toBe('In time.')
    expect(charges(service, id)).toEqual(['reserve', 'settle'])
  },
)

natsTest(
  'a job that four workers break off fails, and the failure is a dead letter',
  async () => {
    // Each of the four workers claims the job once, and breaks it off, because its disk is full. The job fails after
    // four claims. If a worker is silent for the time of the lease, another worker may claim its job. With a short
    // lease, this could happen on a busy machine, and would be one of the four claims. So the lease is an hour.
    const { service, startOwn } = await startServer({ STENO_WORKER_LEASE: '1h' })
    const ana = service.account('ana')
    const id = await ana.transcribe()
    const engines: SteeredEngine[] = []
    for (let count = 1; count <= 4; count++) engines.push((await startOwn(`gpu-${count}`)).engine)
    for (const engine of engines)
      void engine.given(1).then(({ reject }) => reject(new Error('the disk is full')))
    await ana.until(id, 'failed')
    expect(service.db.find('select attempts from jobs where id = $id', { id })).toEqual({ attempts: 4 })
    expect((await ana.job(id)).error.code).toBe('INTERNAL_ERROR')
    expect(charges(service, id)).toEqual(['reserve', 'release'])
    expect((await service.fetch('/metrics')).text).toContain('steno_dead_letters_total 1')
  },
  30_000,
)

natsTest(
  'a worker rests after an error of its machine, and the job waits for a worker that is busy',
  async () => {
    const { service, startOwn } = await startServer()
    const ana = service.account('ana')
    const list = async () => (await service.fetch('/v1/ready')).body.workers.list
    const busy = await startOwn('gpu-1')
    const long = await ana.transcribe()
    const task = await busy.engine.given(1)
    const broken = await startOwn('gpu-2')
    const id = await ana.transcribe()
    const { reject } = await broken.engine.given(1)
    reject(new Error('the disk is full'))
    const isResting = ({ name, message }: { name: string; message: string }) =>
      name === 'gpu-2' && message.includes('rests for 10 s')
    await until(async () => (await list()).some(isResting))
    expect((await list()).find(isResting).ready).toBe(false)
    busy.engine.finish(task)
    busy.engine.finish(await busy.engine.given(2))
    await ana.until(long, 'completed')
    await ana.until(id, 'completed')
    expect(broken.engine.tasks).toHaveLength(1)
  },
)

natsTest(
  'the other jobs of a worker that rests change nothing about its rest',
  async () => {
    const { service, startOwn } = await startServer()
    const ana = service.account('ana')
    const { engine } = await startOwn('gpu-1', steeredEngine({ capacity: 3 }))
    for (let count = 1; count <= 3; count++) await ana.transcribe()
    const [one, two, good] = [await engine.given(1), await engine.given(2), await engine.given(3)]
    for (const { reject } of [one, two]) reject(new Error('the disk is full'))
    engine.finish(good)
    const worker = async () => (await service.fetch('/v1/ready')).body.workers.list[0]
    // The speed of a worker is null until its first completed job.
    await until(async () => {
      const { speed, jobs } = await worker()
      return speed !== null && jobs === 0
    })
    expect((await worker()).message).toContain('rests for 10 s')
  },
  15_000,
)

natsTest('a worker finishes its job while the server restarts, and delivers it afterwards', async () => {
  const { service, cluster, startOwn } = await startServer()
  const ana = service.account('ana')
  const { engine } = await startOwn()
  const id = await ana.transcribe()
  const task = await engine.given(1)
  await service.stop()
  engine.finish(task, 'Kept for you.')
  const { service: again } = await startServer({ STENO_CLUSTER: cluster }, service.dataDir)
  await until(
    () => again.db.find('select 1 from jobs where id = $id and completed_at is not null', { id }) !== null,
  )
  expect(engine.tasks.length).toBe(1)
  expect(charges(again, id)).toEqual(['reserve', 'settle'])
})

natsTest('a worker with another protocol version is refused', async () => {
  const { cluster } = await startServer()
  const wire = await openNats(
    { address: nats.url, credentials: null },
    { name: 'old', inboxPrefix: subjectsOf(cluster).inbox('old') },
  )
  const claim: Claim = { protocol: protocol + 1, session: 'x', job: 'y', sequence: 1, delivery: 1 }
  const ask = async (bytes: Uint8Array) =>
    (await wire.request(subjectsOf(cluster).request('old', 'claim'), bytes)).json()
  await until(async () => {
    const answer = await ask(bytesOf(claim)).catch(() => null)
    return (answer as { kind?: string } | null)?.kind === 'refused'
  })
  expect(await ask(new TextEncoder().encode('{"protocol": '))).toMatchObject({ kind: 'refused' })
  expect(await ask(bytesOf({ ...claim, protocol, job: 7 }))).toMatchObject({ kind: 'refused' })
  expect(await ask(bytesOf({ ...claim, protocol, job: 'gone' }))).toEqual({ kind: 'over' })
  await wire.close()
})

natsTest('the own engine of the server and a worker share the jobs', async () => {
  const own = steeredEngine()
  const cluster = 'shared'
  const service = await startTestService({
    program: null,
    parts: { engine: own },
    settings: { STENO_NATS: nats.url, STENO_CLUSTER: cluster, STENO_RATE_LIMITS: 'off' },
  })
  const ana = service.account('ana')
  const { engine } = await startWorker({ nats: nats.url, server: service.url, cluster })
  await until(async () => (await service.fetch('/v1/ready')).body.workers.list.length === 1)
  const first = await ana.transcribe()
  const second = await ana.transcribe()
  own.finish(await own.given(1), 'Here.')
  engine.finish(await engine.given(1), 'There.')
  const texts = [await ana.until(first, 'completed'), await ana.until(second, 'completed')]
  expect(texts.map(({ result }) => result.full_transcript)).toEqual(['Here.', 'There.'])
})

natsTest('accounts take turns on the workers', async () => {
  const { service, startOwn } = await startServer()
  const [ana, ben] = [service.account('ana'), service.account('ben')]
  const ids = [await ana.transcribe(), await ana.transcribe(), await ana.transcribe(), await ben.transcribe()]
  for (const [index, id] of ids.entries()) await (index < 3 ? ana : ben).until(id, 'pending')
  const { engine } = await startOwn()
  const order: string[] = []
  for (let count = 1; count <= 4; count++) {
    const task = await engine.given(count)
    const [running] = service.db.list<{ id: string }>("select id from jobs where state = 'processing'")
    order.push(`${ids.indexOf(running?.id ?? '')}`)
    engine.finish(task)
  }
  expect(order).toEqual(['0', '3', '1', '2'])
})

natsTest('a transcript that is too large for NATS comes by HTTP', async () => {
  const { service, startOwn } = await startServer()
  const ana = service.account('ana')
  const { engine } = await startOwn()
  const id = await ana.transcribe()
  const task = await engine.given(1)
  const { utterances, ...transcript } = transcriptOf(task.input, 'A word.')
  const spoken = Array.from({ length: 600 }, () => ({ ...utterances[0]!, text: 'A word. '.repeat(250) }))
  task.resolve({ ...transcript, utterances: spoken })
  const job = await ana.until(id, 'completed')
  expect(job.result.utterances.length).toBe(600)
  expect(charges(service, id)).toEqual(['reserve', 'settle'])
})

natsTest(
  'the signed address of media allows parts of the file, only of this job and only while it runs',
  async () => {
    const { service, startOwn } = await startServer()
    const ana = service.account('ana')
    const { engine } = await startOwn()
    const id = await ana.transcribe()
    const task = await engine.given(1)
    const { media, input, result } = addressesOf(service.secrets, id, 2, service.db.now())
    const part = await fetch(`${service.url}${media}`, { headers: { Range: 'bytes=6-9' } })
    expect([part.status, await part.text()]).toEqual([206, 'test'])
    expect(await (await fetch(`${service.url}${input}`)).json()).toMatchObject({ durationMs: 60_000 })
    const other = await ana.transcribe()
    const forged = [
      media.replace(id, other),
      media.replace('fence=2', 'fence=1'),
      media.replace(/expires=\d+/, 'expires=99999999999999'),
      addressesOf(service.secrets, id, 1, service.db.now()).media,
      addressesOf(service.secrets, id, 2, service.db.now() - 16 * 60_000).media,
      result.replace('/result', '/media'),
      result.replace('/result', '/input'),
      input.replace(id, other),
    ]
    const statuses = await Promise.all(
      forged.map(async path => (await fetch(`${service.url}${path}`)).status),
    )
    expect(statuses).toEqual(forged.map(() => 403))
    const put = await fetch(`${service.url}${result}`, { method: 'PUT', body: '{"job": 1}' })
    expect(await put.json()).toEqual({ kind: 'refused' })
    engine.finish(task)
    await ana.until(id, 'completed')
    expect((await fetch(`${service.url}${media}`)).status).toBe(403)
    expect((await fetch(`${service.url}${input}`)).status).toBe(403)
    // The job `other` ends too, so that the worker has no job at the end of the test.
    engine.finish(await engine.given(2))
    await ana.until(other, 'completed')
  },
)

test('without STENO_NATS no code of NATS is loaded', async () => {
  const script = `
    import { startService } from '${import.meta.dir}/../../src/service.ts'
    import { readConfig } from '${import.meta.dir}/../../src/config.ts'
    const count = async (dataDir, settings) => {
      // The folder contains no model, so the engine loads nothing.
      const common = { STENO_PORT: '0', STENO_DATA_DIR: dataDir, STENO_MODEL: dataDir }
      await startService(readConfig({ ...common, ...settings }))
      return Object.keys(require.cache).filter(path => path.includes('@nats-io')).length
    }
    const without = await count('${temporaryFolder()}', {})
    const withNats = await count('${temporaryFolder()}', { STENO_NATS: 'nats://127.0.0.1:1' })
    await Bun.write(Bun.stdout, JSON.stringify({ without, withNats }))
    process.exit(0)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'ignore' })
  const { without, withNats } = JSON.parse(await new Response(child.stdout).text())
  expect(without).toBe(0)
  expect(withNats).toBeGreaterThan(10)
})

natsTest('steno workers list shows the workers and the dead letters', async () => {
  const { service, startOwn } = await startServer({ STENO_SWEEP_EVERY: '50ms' })
  expect((await findCommand(service.dataDir, 'workers', 'list')).out).toContain('No ')
  await startOwn('gpu-7')
  await until(async () => (await service.fetch('/v1/ready')).body.workers.list[0]?.ready)
  const listed = async () => (await findCommand(service.dataDir, 'workers', 'list', '--json')).json()
  await until(async () => (await listed()).workers[0]?.ready)
  expect(await listed()).toMatchObject({
    workers: [{ name: 'gpu-7', model: 'steered', device: 'none', slots: 1, jobs: 0, speed: null }],
    dead_letters: [],
  })
  expect((await findCommand(service.dataDir, 'workers', 'list')).out).toMatch(
    /^gpu-7 +none +steered +0\/1 jobs /,
  )
})

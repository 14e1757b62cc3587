// Tests unfinished jobs without their media files, for example after a restart on a second server.

import { afterAll, expect } from 'bun:test'
import { readdirSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'
import { MediaLost } from '../../src/errors.ts'
import { findJob } from '../../src/jobs/job.ts'
import { makeMediaFolders } from '../../src/jobs/media-files.ts'
import { jobStates } from '../../src/jobs/states.ts'
import { limits } from '../../src/limits.ts'
import type { Media } from '../../src/media/media.ts'
import { findCommand } from '../support/command.ts'
import { defaults } from '../support/defaults.ts'
import { steeredEngine } from '../support/engine.ts'
import { speech } from '../support/media.ts'
import { startTestService, steered, type TestService } from '../support/service.ts'

const nets = { STENO_ALLOW_NETS: '127.0.0.0/8' }

type Options = NonNullable<Parameters<typeof startTestService>[0]>

/** Stops a service, removes its media, and starts the service again. */
async function restartWithoutMedia(before: TestService, options: Options): Promise<TestService> {
  await before.stop()
  for (const name of ['media', 'uploads']) rmSync(join(before.dataDir, name), { recursive: true })
  makeMediaFolders(before.dataDir)
  return await startTestService({ ...options, dataDir: before.dataDir })
}

steered('a waiting job without its file downloads it again, or fails and costs nothing', async () => {
  const recordings: Record<string, string> = { '/same.mp3': speech(60), '/other.mp3': speech(60) }
  const requests: string[] = []
  const origin = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url }) {
      const { pathname } = new URL(url)
      requests.push(pathname)
      return new Response(recordings[pathname])
    },
  })
  afterAll(() => origin.stop(true))
  const engine = steeredEngine()
  engine.setReady(false)
  const options = { settings: nets, parts: { engine } }
  const before = await startTestService(options)
  const ana = before.account('ana')
  const submit = async (path: string): Promise<string> =>
    (await ana.post('/v1/transcribe', { url: `http://127.0.0.1:${origin.port}${path}` })).body.id
  const ids = [await submit('/other.mp3'), await ana.transcribe(speech(60)), await submit('/same.mp3')]
  for (const id of ids) await ana.until(id, 'pending')
  recordings['/other.mp3'] = speech(90)

  const after = await restartWithoutMedia(before, options)
  engine.setReady(true)
  const { input } = await engine.given(1)
  expect(await Bun.file(input.path).text()).toBe(speech(60))
  for (const id of ids.slice(0, 2)) while (findJob(after.db, id)?.state !== 'failed') await Bun.sleep(2)
  expect(requests.toSorted()).toEqual(['/other.mp3', '/other.mp3', '/same.mp3', '/same.mp3'])
  const found = after.db.list('select error_code as code, error_message as message from jobs order by seq')
  expect(found).toEqual([
    {
      code: 'DOWNLOAD_FAILED',
      message: 'The file had to be downloaded again, and has another length; start the transcription again.',
    },
    {
      code: 'INTERNAL_ERROR',
      message: 'The media file is no longer on the server; start the transcription again.',
    },
    { code: null, message: null },
  ])
  const ledger = after.db.list<{ kind: string }>(
    'select kind from ledger where job_id is not null order by id',
  )
  expect(ledger.map(({ kind }) => kind)).toEqual(['reserve', 'reserve', 'reserve', 'release', 'release'])
})

/**
 * Submits `count` jobs with a `url`, waits until all are in `state`, and restarts the service without their files. The
 * jobs then download their files again. `answer` makes the responses to the downloads.
 */
async function downloadTwice(
  answer: () => Response | Promise<Response>,
  {
    settings = {},
    state = 'pending',
    count = 1,
  }: { settings?: Record<string, string>; state?: string; count?: number } = {},
) {
  const origin = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ method }) => (method === 'POST' ? new Response() : answer()),
  })
  afterAll(() => origin.stop(true))
  const engine = steeredEngine()
  engine.setReady(state === 'processing')
  const options = { settings: { ...nets, STENO_RATE_LIMITS: 'off', ...settings }, parts: { engine } }
  const before = await startTestService(options)
  const ana = before.account('ana')
  const address = `http://127.0.0.1:${origin.port}`
  const body = { url: `${address}/a.mp3`, webhook_url: `${address}/hook` }
  const jobIds: string[] = []
  for (let job = 0; job < count; job++) jobIds.push((await ana.post('/v1/transcribe', body)).body.id)
  for (const id of jobIds) await ana.until(id, state)
  if (state === 'processing') (await engine.given(1)).options.onSeconds(30)
  const service = await restartWithoutMedia(before, options)
  engine.setReady(true)
  return { engine, service, ana, jobIds, folder: join(service.dataDir, 'media') }
}

/**
 * Returns an origin that answers the first `count` requests at once, and later ones when the test calls `answer`.
 * `asked` resolves at the first later request.
 */
function slowAfter(count: number) {
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<Response>()]
  let requests = 0
  const origin = () => {
    requests += 1
    if (requests <= count) return new Response(speech(60))
    asked.resolve()
    return answer.promise
  }
  return { origin, asked: asked.promise, answer: () => answer.resolve(new Response(speech(60))) }
}

steered('a job whose worker may have its file goes on after a restart without the file', async () => {
  const engine = { ...steeredEngine(), mayBeHeld: () => true }
  const before = await startTestService({ parts: { engine } })
  const id = await before.account('ana').transcribe(speech(60))
  await engine.given(1)
  const service = await restartWithoutMedia(before, { parts: { engine } })
  while (engine.tasks.length < 2 && findJob(service.db, id)?.state === 'processing') await Bun.sleep(2)
  expect(findJob(service.db, id)?.state).toBe('processing')
})

steered('a file that is downloaded again does not count twice for the quota', async () => {
  const file = speech(60)
  const settings = { STENO_ACCOUNT_DISK: `${Math.round(file.length * 1.5)}B` }
  const { engine } = await downloadTwice(() => new Response(file), { settings })
  expect(await Bun.file((await engine.given(1)).input.path).text()).toBe(file)
})

/**
 * Lists the jobs by each status. Returns two statuses for each listed job, which must be equal: the status in the query
 * of the list, and the status in the listed job.
 */
async function listedStatuses({ url }: TestService, key: string): Promise<[string, string][]> {
  const found: [string, string][] = []
  for (const listed of jobStates) {
    const list = await fetch(`${url}/v1/transcriptions?status=${listed}`, { headers: { Authorization: key } })
    const { items } = (await list.json()) as { items: { status: string }[] }
    for (const { status } of items) found.push([listed, status])
  }
  return found
}

steered.each(['pending', 'processing'])(
  'while a %s job downloads its file again, it keeps its status, its percentage starts over, and another job runs',
  async state => {
    const { origin, asked, answer } = slowAfter(1)
    const { engine, service, ana, jobIds } = await downloadTwice(origin, { state: String(state) })
    const job = () => findJob(service.db, jobIds[0]!)
    const startedAt = job()?.startedAt
    const earlier = engine.tasks.length
    await asked
    expect(job()).toMatchObject({ state: 'downloading', status: state })
    const startPercent = state === 'processing' ? 0 : null
    expect(job()?.progressPercent).toBe(startPercent)
    expect(await listedStatuses(service, ana.key)).toEqual([[state, state]])
    const ben = service.account('ben')
    const other = await ben.transcribe(speech(5))
    const task = await engine.given(earlier + 1)
    expect(task.input.durationMs).toBe(5000)
    answer()
    while (job()?.state !== 'pending') await Bun.sleep(2)
    expect(job()?.progressPercent).toBe(startPercent)
    expect(await listedStatuses(service, ana.key)).toEqual([[state, state]])

    engine.finish(task)
    const again = await engine.given(earlier + 2)
    expect(again.input.durationMs).toBe(60_000)
    if (startedAt) expect(job()?.startedAt).toBe(startedAt)
    engine.finish(again)
    await ben.until(other, 'completed')
    while (job()?.state !== 'completed') await Bun.sleep(2)
    const kinds = service.db.list<{ kind: string }>('select kind from ledger where job_id = $id', {
      id: jobIds[0]!,
    })
    expect(kinds.map(({ kind }) => kind)).toEqual(['reserve', 'settle'])
    const events = service.db.list<{ event: string }>('select event from webhook_events order by id')
    expect(events.map(({ event }) => event)).toEqual(['transcription.processing', 'transcription.completed'])
  },
)

steered(
  'a repeated download has the timeout of downloads, which begins when the download begins',
  async () => {
    const count = limits.downloadsMax
    const { origin, asked } = slowAfter(count)
    const { service } = await downloadTwice(origin, { count })
    await asked
    const states = () =>
      service.db.list('select state, error_code as code, count(*) as count from jobs group by 1, 2')
    expect(states()).toEqual([{ state: 'downloading', code: null, count }])
    service.later(defaults.downloadingTimeoutMs + 1)
    // An account gets at most three quarters of the download slots, so a quarter of the jobs waited. The timeout of
    // these jobs begins only now.
    expect(states()).toEqual([
      { state: 'downloading', code: null, count: count / 4 },
      { state: 'failed', code: 'DOWNLOAD_TIMEOUT', count: (count * 3) / 4 },
    ])
  },
)

steered(
  'a job whose worker did not find the file downloads it again, and fails if its file was uploaded',
  async () => {
    const origin = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(speech(60)) })
    afterAll(() => origin.stop(true))
    const told: string[] = []
    const engine = { ...steeredEngine({ capacity: 2 }), ended: (id: string) => void told.push(id) }
    const service = await startTestService({ settings: nets, parts: { engine } })
    const ana = service.account('ana')
    const { id } = (await ana.post('/v1/transcribe', { url: `http://127.0.0.1:${origin.port}/a.mp3` })).body
    await ana.until(id, 'processing')
    const uploaded = await ana.transcribe(speech(5))
    await ana.until(uploaded, 'processing')
    for (const task of [await engine.given(1), await engine.given(2)]) {
      rmSync(task.input.path)
      task.reject(new MediaLost())
    }
    const again = await engine.given(3)
    // The engine is told immediately that the server no longer needs these two tasks, not only when the jobs end.
    expect(told.toSorted()).toEqual([id, uploaded].toSorted())
    expect(await Bun.file(again.input.path).text()).toBe(speech(60))
    engine.finish(again)
    await ana.until(id, 'completed')
    expect((await ana.until(uploaded, 'failed')).error.code).toBe('INTERNAL_ERROR')
    expect((await ana.balance()).reserved_cents).toBe(0)
  },
)

steered('a file that is downloaded again while its account is erased is removed', async () => {
  const { origin, asked, answer } = slowAfter(1)
  const { service, ana, jobIds, folder } = await downloadTwice(origin)
  await asked
  await findCommand(service.dataDir, 'accounts', 'delete', ana.email, '--yes')
  const appeared = Promise.withResolvers<void>()
  const watcher = watch(folder, (_, name) => name === jobIds[0] && appeared.resolve())
  answer()
  await appeared.promise
  watcher.close()
  // `later` starts a sweep. The sweep ends the download, because its job no longer exists.
  service.later(0)
  while (readdirSync(folder).length > 0) await Bun.sleep(2)
})

steered('a restart during the inspection of a complete download does not download it again', async () => {
  const origin = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(speech(60)) })
  afterAll(() => origin.stop(true))
  const inspected = Promise.withResolvers<void>()
  const media: Media = {
    inspect(_, { signal }) {
      inspected.resolve()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  }
  const before = await startTestService({ settings: nets, parts: { media } })
  const ana = before.account('ana')
  await ana.post('/v1/transcribe', { url: `http://127.0.0.1:${origin.port}/a.wav` })
  await inspected.promise
  await before.stop()
  await origin.stop(true)
  const after = await startTestService({ settings: nets, dataDir: before.dataDir })
  const { input } = await after.engine.given(1)
  expect(await Bun.file(input.path).text()).toBe(speech(60))
  expect(after.db.find('select file_bytes as bytes from jobs')).toEqual({ bytes: speech(60).length })
})

// Tests waiting jobs whose media files are missing after a restart, as on a second server without these files.

import { afterAll, expect } from 'bun:test'
import { readdirSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'
import { makeMediaFolders } from '../../src/jobs/media-files.ts'
import { findCommand } from '../support/command.ts'
import { steeredEngine } from '../support/engine.ts'
import { speech } from '../support/media.ts'
import { startTestService, steered, type TestService } from '../support/service.ts'

const nets = { STENO_ALLOW_NETS: '127.0.0.0/8' }

type Options = NonNullable<Parameters<typeof startTestService>[0]>

/** Stops a service, removes its media, and starts it again. */
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
 * Submits a job with a `url`, and restarts the service without the file of the job. `answer` makes the responses of the
 * server with the file. The engine becomes ready after the restart, so the job downloads its file again.
 */
async function downloadTwice(
  answer: () => Response | Promise<Response>,
  settings: Record<string, string> = {},
) {
  const origin = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  afterAll(() => origin.stop(true))
  const engine = steeredEngine()
  engine.setReady(false)
  const options = { settings: { ...nets, ...settings }, parts: { engine } }
  const before = await startTestService(options)
  const ana = before.account('ana')
  const { id } = (await ana.post('/v1/transcribe', { url: `http://127.0.0.1:${origin.port}/a.mp3` })).body
  await ana.until(id, 'pending')
  const service = await restartWithoutMedia(before, options)
  engine.setReady(true)
  return { engine, service, ana, jobId: id, folder: join(service.dataDir, 'media') }
}

steered('a file that is downloaded again does not count twice for the quota', async () => {
  const file = speech(60)
  const quota = { STENO_ACCOUNT_DISK: `${Math.round(file.length * 1.5)}B` }
  const { engine } = await downloadTwice(() => new Response(file), quota)
  expect(await Bun.file((await engine.given(1)).input.path).text()).toBe(file)
})

steered('a file that is downloaded again while its account is erased is removed', async () => {
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<Response>()]
  let requests = 0
  const { service, ana, jobId, folder } = await downloadTwice(() => {
    requests += 1
    if (requests === 1) return new Response(speech(60))
    asked.resolve()
    return answer.promise
  })
  await asked.promise
  await findCommand(service.dataDir, 'accounts', 'delete', ana.email, '--yes')
  const appeared = Promise.withResolvers<void>()
  const watcher = watch(folder, (_, name) => name === jobId && appeared.resolve())
  answer.resolve(new Response(speech(60)))
  await appeared.promise
  watcher.close()
  // The sweep ends the recognition of the job, which no longer exists.
  service.later(0)
  while (readdirSync(folder).length > 0) await Bun.sleep(2)
})

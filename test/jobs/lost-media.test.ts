// Tests waiting jobs whose media files are missing after a restart, as on a second server without these files.

import { afterAll, expect } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeMediaFolders } from '../../src/jobs/media-files.ts'
import { steeredEngine } from '../support/engine.ts'
import { speech } from '../support/media.ts'
import { startTestService, steered } from '../support/service.ts'

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
  const options = { settings: { STENO_ALLOW_NETS: '127.0.0.0/8' }, parts: { engine } }
  const before = await startTestService(options)
  const ana = before.account('ana')
  const submit = async (path: string): Promise<string> =>
    (await ana.post('/v1/transcribe', { url: `http://127.0.0.1:${origin.port}${path}` })).body.id
  const ids = [await submit('/other.mp3'), await ana.transcribe(speech(60)), await submit('/same.mp3')]
  for (const id of ids) await ana.until(id, 'pending')
  await before.stop()
  for (const name of ['media', 'uploads']) rmSync(join(before.dataDir, name), { recursive: true })
  makeMediaFolders(before.dataDir)
  recordings['/other.mp3'] = speech(90)

  const after = await startTestService({ ...options, dataDir: before.dataDir })
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

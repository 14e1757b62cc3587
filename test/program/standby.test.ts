// Tests that the second server of a pair takes over when the first one is killed. The servers run the built program or
// the source code.

import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clips, pocket, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { prepareData, type Ready, serve, testedProgram } from '../support/server.ts'

const missing = !pocket || !clips
const skipped = unless(missing ? null : 'all', 'pocket model with its clips')

test.skipIf(missing)(
  `a second server completes the job of a server that was killed, if both share the media${skipped}`,
  async () => {
    const shared = temporaryFolder()
    writeFileSync(join(shared, 'steno-pair'), '')
    const data = prepareData()
    afterAll(() => data.remove())
    const [one, two] = [data.dataDir, temporaryFolder()]
    for (const name of ['uploads', 'media']) {
      mkdirSync(join(shared, name))
      for (const dataDir of [one, two]) symlinkSync(join(shared, name), join(dataDir, name))
    }
    const begin = async (dataDir: string, model: string): Promise<Ready> => {
      const settings = { STENO_STANDBY: shared, STENO_STANDBY_AFTER: '10s', STENO_STANDBY_EVERY: '200ms' }
      const server = await serve(
        { dataDir },
        { ...settings, STENO_MODEL: model, STENO_DEVICE: 'cpu' },
        testedProgram(),
      )
      afterAll(() => server.stop())
      return server
    }
    // biome-ignore lint/suspicious/noExplicitAny: the JSON has another shape in each answer
    const ask = async (server: Ready, path: string, init: RequestInit = {}): Promise<any> => {
      const headers = { Authorization: `Bearer ${data.key}`, 'Content-Type': 'application/json' }
      return (await fetch(`http://127.0.0.1:${server.port}${path}`, { headers, ...init })).json()
    }

    // The first server has no model, so the job stays pending.
    const first = await begin(one, one)
    const upload = await ask(first, '/v1/upload', { method: 'POST', body: '{"filename": "a.flac"}' })
    await fetch(upload.upload_url, {
      method: 'PUT',
      headers: upload.headers,
      body: Bun.file(join(clips ?? '', 'doctor.flac')),
    })
    const body = JSON.stringify({ upload_id: upload.upload_id })
    const { id } = await ask(first, '/v1/transcribe', { method: 'POST', body })
    while ((await ask(first, `/v1/transcribe/${id}`)).status !== 'pending') await Bun.sleep(20)
    await untilCopied(shared)
    await first.stop()

    const second = await begin(two, 'pocket')
    const wait = () => ask(second, `/v1/transcribe/${id}?wait=30`)
    let job = await wait()
    while (!['completed', 'failed'].includes(job.status)) job = await wait()
    expect(job).toMatchObject({ status: 'completed', result: { model: 'pocket' } })
    expect(job.result.full_transcript).toContain('cloudy')
  },
  120_000,
)

/** Waits until the shared folder has a copy of the database that the server began after this call. */
async function untilCopied(shared: string): Promise<void> {
  const last = () =>
    Math.max(-1, ...readdirSync(shared).map(name => Number(/^copy-\d+-(\d+)\.db$/.exec(name)?.[1] ?? -1)))
  const before = last()
  // The server numbers its copies of the database. Copy `before + 1` may have begun before this call, so only copy
  // `before + 2` is certainly newer.
  while (last() < before + 2) await Bun.sleep(20)
}

// Tests `steno serve` and `steno worker` as programs. The tests use TLS, NATS credentials that allow each program only
// its own NATS subjects, and a frozen NATS.

import { expect } from 'bun:test'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openSecrets } from '../../src/base/seal.ts'
import { selfCommand } from '../../src/base/self.ts'
import { makeDataDir } from '../../src/db/data-dir.ts'
import { openDb } from '../../src/db/open-db.ts'
import { makeAccount } from '../support/account.ts'
import { findCommand } from '../support/command.ts'
import { compactPocket } from '../support/compact-pocket.ts'
import { pocket } from '../support/engine-room.ts'
import { until } from '../support/fleet.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startLossyProxy } from '../support/lossy-proxy.ts'
import { natsTest, startNats } from '../support/nats.ts'
import { makeAccounts } from '../support/nats-accounts.ts'
import { start } from '../support/server.ts'
import { shownRights } from '../support/shown-nats.ts'

const fixtures = join(import.meta.dir, '../fixtures')
const program = process.env.STENO_TEST_PROGRAM ? [process.env.STENO_TEST_PROGRAM] : selfCommand()

natsTest(
  'with TLS and own credentials, a worker whose output cannot be written transcribes a recording, drains and leaves no file behind',
  async () => {
    const folder = temporaryFolder()
    const { settings, writeCredentials } = makeAccounts()
    const nats = await startNats({
      scheme: 'tls',
      settings: `${settings}\ntls { cert_file: "${join(fixtures, 'tls/server.pem')}", key_file: "${join(fixtures, 'tls/server-key.pem')}" }`,
    })
    const credentialsOf = (user: string) =>
      writeCredentials(join(folder, `${user}.creds`), user, shownRights(user))
    const serverCreds = credentialsOf('server')
    const workerCreds = credentialsOf('gpu-1')
    const dataDir = join(folder, 'data')
    makeDataDir(dataDir)
    const db = openDb(dataDir)
    const { key } = makeAccount(db, openSecrets(dataDir), 'ana@example.org', 1000)
    db.close()
    const shared = { NODE_EXTRA_CA_CERTS: join(fixtures, 'tls/ca.pem'), STENO_NATS: nats.url }
    const server = await start([...program, 'serve', '--port', '0'], {
      ...shared,
      STENO_DATA_DIR: dataDir,
      STENO_NATS_CREDS: serverCreds,
      STENO_WORKERS: '0',
      STENO_RATE_LIMITS: 'off',
      STENO_LOG: 'json',
      STENO_SWEEP_EVERY: '100ms',
    })
    const url = `http://127.0.0.1:${server.port}`
    const workDir = join(folder, 'work')
    const model = await compactPocket(pocket ?? '')
    mkdirSync(workDir)
    const worker = Bun.spawn(
      [...program, 'worker', '--server', url, '--name', 'gpu-1', '--model', model, '--work-dir', workDir],
      {
        cwd: folder,
        env: {
          ...process.env,
          ...shared,
          STENO_NATS_CREDS: workerCreds,
          STENO_CACHE_DIR: join(folder, 'cache'),
          STENO_WORKERS: '1',
        },
        stdout: Bun.file('/dev/full'),
        stderr: 'ignore',
      },
    )
    try {
      const job = await transcribe(url, key, join(fixtures, 'speech/doctor.flac'))
      expect(job).toMatchObject({ status: 'completed', result: { model: 'pocket' } })
      expect(job.result.full_transcript).toContain('cloudy')
      const listed = (await findCommand(dataDir, 'workers', 'list', '--json')).json()
      expect(listed).toMatchObject({
        workers: [{ name: 'gpu-1', model: 'pocket', device: 'cpu', ready: true, slots: 1 }],
        dead_letters: [],
      })
      expect((await findCommand(dataDir, 'workers', 'list')).out).toMatch(
        /^gpu-1 +cpu +pocket +[01]\/1 jobs /,
      )
      worker.kill('SIGTERM')
      expect(await worker.exited).toBe(0)
      expect(readdirSync(workDir)).toEqual([])
    } finally {
      worker.kill('SIGKILL')
      await server.stop()
    }
  },
  120_000,
)

natsTest(
  'while NATS is frozen, a worker and a server exit with 0 after SIGTERM',
  async () => {
    const nats = await startNats()
    let answers = 0
    const proxy = await startLossyProxy(nats.port, from => {
      if (from === 'target') answers++
    })
    const folder = temporaryFolder()
    const place = { STENO_DATA_DIR: join(folder, 'data'), STENO_CACHE_DIR: join(folder, 'cache') }
    const begin = (engines: number, ...args: string[]) =>
      Bun.spawn([...program, ...args, '--nats', `nats://127.0.0.1:${proxy.port}`], {
        cwd: folder,
        env: { ...process.env, ...place, STENO_WORKERS: `${engines}`, STENO_LOG: 'json' },
        stdout: 'ignore',
        stderr: 'pipe',
      })
    const all = [
      begin(1, 'worker', '--server', 'http://127.0.0.1:1', '--model', 'pocket'),
      begin(0, 'serve', '--port', '0'),
    ]
    const logs = all.map(() => '')
    const read = all.map(async ({ stderr }, at) => {
      for await (const text of stderr.pipeThrough(new TextDecoderStream())) logs[at] += text
    })
    await until(() => logs.every(log => log.includes('nats connected')))
    // From now on, both programs can open a new connection, but get no bytes from NATS.
    proxy.hold()
    proxy.cut()
    const before = answers
    await until(() => answers >= before + all.length)
    for (const each of all) each.kill('SIGTERM')
    const ended = Promise.all(all.map(({ exited }) => exited))
    const codes = await Promise.race([ended, Bun.sleep(25_000)])
    for (const each of all) each.kill('SIGKILL')
    await Promise.all(read)
    proxy.close()
    expect(codes).toEqual([0, 0])
  },
  60_000,
)

// biome-ignore lint/suspicious/noExplicitAny: the JSON has another shape in each answer
async function transcribe(url: string, key: string, clip: string): Promise<any> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  // biome-ignore lint/suspicious/noExplicitAny: the JSON has another shape in each answer
  const ask = async (path: string, body?: object): Promise<any> => {
    const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
    return await (await fetch(`${url}${path}`, { headers, ...init })).json()
  }
  const upload = await ask('/v1/upload', { filename: 'a.flac' })
  await fetch(upload.upload_url, { method: 'PUT', headers: upload.headers, body: Bun.file(clip) })
  const { id } = await ask('/v1/transcribe', { upload_id: upload.upload_id })
  for (;;) {
    const job = await ask(`/v1/transcribe/${id}?wait=10`)
    if (['completed', 'failed'].includes(job.status)) return job
  }
}

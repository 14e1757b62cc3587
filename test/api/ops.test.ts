import { expect, test } from 'bun:test'
import { renameSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { openStorageCheck } from '../../src/api/storage.ts'
import { makeMediaFolders } from '../../src/jobs/media-files.ts'
import { steeredEngine } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { shareServices, startTestService, steered } from '../support/service.ts'

shareServices()

steered('health answers while the process runs, ready only when it can work', async () => {
  const service = await startTestService()
  expect(await service.fetch('/v1/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
  const engine = {
    ready: true,
    message: 'steered by a test',
    model: 'steered',
    device: 'none',
    diarization: 'ready',
  }
  expect(await service.fetch('/v1/ready')).toMatchObject({
    status: 200,
    body: { ready: true, database: true, media: true, engine },
  })
  service.engine.setReady(false)
  expect(await service.fetch('/v1/ready')).toMatchObject({
    status: 503,
    body: { ready: false, database: true, engine: { ready: false, message: 'not yet' } },
  })
})

test('without the folder of uploads, ready and metrics say that media cannot be written', async () => {
  const service = await startTestService({ alone: true })
  rmdirSync(join(service.dataDir, 'uploads'))
  expect(await service.fetch('/v1/ready')).toMatchObject({
    status: 503,
    body: { ready: false, database: true, media: false },
  })
  const { text } = await service.fetch('/metrics')
  expect(text).toContain('\nsteno_storage_writable{part="database"} 1\n')
  expect(text).toContain('\nsteno_storage_writable{part="media"} 0\n')
})

test.each([
  ['are refused by the disk', () => Promise.reject(new Error('EIO: i/o error, fdatasync'))],
  ['wait for a disk that hangs', () => new Promise<void>(() => {})],
])('a database whose writes %s is not writable', async (_, durable) => {
  const dataDir = temporaryFolder()
  makeMediaFolders(dataDir)
  const check = openStorageCheck({ db: { probe() {}, durable }, config: { dataDir } }, { waitMs: 10 })
  expect(await check()).toEqual({ database: false, media: true })
})

test('metrics are served while the data folder is missing', async () => {
  const service = await startTestService({ alone: true })
  const free = async () => (await service.fetch('/metrics')).text.match(/^steno_disk_free_bytes .*$/gm)
  expect(await free()).toHaveLength(1)
  const away = `${service.dataDir}.away`
  renameSync(service.dataDir, away)
  try {
    expect(await free()).toBeNull()
  } finally {
    renameSync(away, service.dataDir)
  }
})

steered('metrics count jobs, seconds of audio and requests', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe()
  expect((await service.fetch('/metrics')).text).toContain('steno_jobs{state="processing"} 1')
  service.engine.finish(await service.engine.given(1))
  await ana.until(id, 'completed')
  const { text, headers } = await service.fetch('/metrics')
  expect(text).toContain('\nsteno_engine_crashes_total 0\n')
  expect(headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
  expect(text).toContain('steno_jobs_ended_total{state="completed",code=""} 1')
  expect(text).toContain('steno_audio_seconds_total 60')
  expect(text).toContain('steno_jobs{state="processing"} 0')
  expect(text).toMatch(/steno_http_requests_total\{route="\/v1\/transcribe",method="POST",status="200"\} 1/)
})

steered('only the present state of the engine is in the metrics', async () => {
  const engine = steeredEngine()
  const present = engine.state()
  let change: Partial<typeof present> = {}
  const service = await startTestService({
    parts: { engine: { ...engine, state: () => ({ ...present, ...change }) } },
  })
  const readiness = async () => (await service.fetch('/metrics')).text.match(/^steno_engine_ready.*$/gm)
  expect(await readiness()).toEqual(['steno_engine_ready{model="steered",device="none"} 1'])
  change = { ready: false, model: 'base' }
  expect(await readiness()).toEqual(['steno_engine_ready{model="base",device="none"} 0'])
})

test('metrics are served to loopback addresses and to those in the settings', async () => {
  const proxied = { STENO_TRUST_PROXY: '127.0.0.0/8' }
  const from = { headers: { 'X-Forwarded-For': '203.0.113.9' } }
  const closed = await startTestService({ settings: proxied })
  expect((await closed.fetch('/metrics', from)).status).toBe(403)
  expect((await closed.fetch('/metrics')).status).toBe(200)
  const untold = await startTestService()
  expect((await untold.fetch('/metrics', from)).status).toBe(403)
  const open = await startTestService({ settings: { ...proxied, STENO_METRICS_NETS: '203.0.113.0/24' } })
  expect((await open.fetch('/metrics', from)).status).toBe(200)
  expect((await open.fetch('/metrics')).status).toBe(200)
})

steered.each([
  ['POST', '/mcp', 400],
  ['OPTIONS', '/mcp', 204],
  ['GET', '/', 302],
  ['GET', '/nope', 404],
  ['GET', '/v1', 200],
])('metrics count %s %s with the status of its response: %i', async (method, path, status) => {
  const service = await startTestService()
  const headers = { Authorization: `Bearer ${service.account('ana').key}` }
  const response = await fetch(`${service.url}${path}`, { method, headers, redirect: 'manual' })
  expect(response.status).toBe(status)
  const { text } = await service.fetch('/metrics')
  const counted = text.split('\n').filter(line => line.startsWith('steno_http_requests_total'))
  expect(counted).toEqual([expect.stringContaining(`method="${method}",status="${status}"} 1`)])
})

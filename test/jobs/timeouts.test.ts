// Tests that a job fails if it stays in one state for too long. The time during which the server was not running does
// not count.

import { expect } from 'bun:test'
import { createJob } from '../../src/jobs/create.ts'
import { countJobs } from '../../src/jobs/list.ts'
import { limits } from '../../src/limits.ts'
import { makeAccount } from '../support/account.ts'
import { defaults } from '../support/defaults.ts'
import { speech } from '../support/media.ts'
import { plainJob } from '../support/plain-job.ts'
import { startTestService, steered } from '../support/service.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

steered('a wall clock that is set forward or back fails no job', async () => {
  for (const stepMs of [hourMs, -2 * dayMs]) {
    const service = await startTestService()
    const ana = service.account('ana')
    const { body: downloading } = await ana.post('/v1/transcribe', { url: 'https://silent.test/a.mp3' })
    const processing = await ana.transcribe(speech(5))
    const task = await service.engine.given(1)
    service.stepClock(stepMs)
    expect(await ana.job(downloading.id)).toMatchObject({ status: 'downloading' })
    service.engine.finish(task)
    expect(await ana.until(processing, 'completed')).toMatchObject({ status: 'completed' })
  }
})

steered('a change of the wall clock does not change when a job times out', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(5))
  await service.engine.given(1)
  service.stepClock(-2 * dayMs)
  service.later(defaults.processingTimeoutMs - 5000)
  expect(await ana.job(id)).toMatchObject({ status: 'processing' })
  service.later(5001)
  expect(await ana.job(id)).toMatchObject({ error: { code: 'PROCESSING_TIMEOUT' } })
})

steered('a suspend of the machine fails no job', async () => {
  const service = await startTestService({ settings: { STENO_SWEEP_EVERY: '1m' } })
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(5))
  const task = await service.engine.given(1)
  service.later(dayMs)
  service.engine.finish(task)
  expect(await ana.until(id, 'completed')).toMatchObject({ status: 'completed' })
})

steered('the time in which the server was down fails no job', async () => {
  const service = await startTestService()
  // The clock of the timeouts starts at zero in each process. So for the second server, the start times that the first
  // server stored are in the future. The second server must count the timeouts from its own start.
  service.later(hourMs)
  const ana = service.account('ana')
  const { body: downloading } = await ana.post('/v1/transcribe', { url: 'https://silent.test/a.mp3' })
  const processing = await ana.transcribe(speech(5))
  await service.engine.given(1)
  service.later(defaults.downloadingTimeoutMs - 5000)
  await service.stop()

  const again = await startTestService({
    dataDir: service.dataDir,
    parts: { clock: () => Date.now() + 2 * dayMs },
  })
  const job = async (id: string) =>
    (await again.fetch(`/v1/transcribe/${id}`, { headers: { Authorization: ana.key } })).body
  again.later(0)
  again.engine.finish(await again.engine.given(1))
  expect(await job(downloading.id)).toMatchObject({ status: 'downloading' })
  expect(['processing', 'completed']).toContain((await job(processing)).status)
  again.later(defaults.downloadingTimeoutMs + 1)
  expect(await job(downloading.id)).toMatchObject({ error: { code: 'DOWNLOAD_TIMEOUT' } })
})

steered('of many jobs whose time is over, each sweep fails a limited number', async () => {
  const service = await startTestService()
  const { db } = service
  const { accountId, keyId } = makeAccount(db, service.secrets, 'dora@example.org', 0)
  db.tx(() => {
    for (let jobs = 0; jobs <= limits.stuckJobsMax; jobs += 1) createJob(db, accountId, plainJob(keyId))
  })
  const left = () => countJobs(db).find(({ state }) => state === 'created')?.jobs ?? 0
  service.later(defaults.createdTimeoutMs + 1)
  expect(left()).toBe(1)
  service.later(0)
  expect(left()).toBe(0)
})

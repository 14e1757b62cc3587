import { expect, spyOn, test } from 'bun:test'
import { release } from '../../src/accounts/ledger.ts'
import { log } from '../../src/base/log.ts'
import { failJob } from '../../src/jobs/end.ts'
import { findJob } from '../../src/jobs/job.ts'
import { findNames } from '../../src/jobs/job-names.ts'
import { WorkUnderWay } from '../../src/jobs/work.ts'
import { readRemembered, saveList } from '../../src/workers/listing.ts'
import { steeredEngine } from '../support/engine.ts'
import { speech } from '../support/media.ts'
import { startTestService, steered } from '../support/service.ts'

steered('a charge that cannot be settled fails the job as a billing error', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(60))
  const task = await service.engine.given(1)
  release(service.db, ana.id, id)
  service.engine.finish(task)
  expect((await ana.until(id, 'failed')).error.code).toBe('BILLING_ERROR')
  expect(await ana.balance()).toMatchObject({ balance_cents: 1000, reserved_cents: 0 })
})

steered(
  'a transcript that cannot be stored fails the job as an internal error, and charges nothing',
  async () => {
    const service = await startTestService()
    const ana = service.account('ana')
    const id = await ana.transcribe(speech(60))
    const task = await service.engine.given(1)
    service.db.run(
      "create trigger disk_full before insert on transcripts begin select raise(abort, 'disk full'); end",
    )
    service.engine.finish(task)
    expect((await ana.until(id, 'failed')).error.code).toBe('INTERNAL_ERROR')
    expect(await ana.balance()).toMatchObject({ balance_cents: 1000, reserved_cents: 0 })
  },
)

steered(
  'a job with a damaged row does not keep the service from its start, and is named in the log',
  async () => {
    const before = await startTestService()
    const ana = before.account('ana')
    const damaged = await ana.transcribe(speech(60), { metadata: { project: 'x' }, vocabulary: ['Steno'] })
    await before.engine.given(1)
    before.db.run(`update jobs set metadata = '{"proj', vocabulary = '["St'`)
    saveList(before.db, [], [])
    before.db.run("update fleet set remembered = '[{'")
    await before.stop()
    using errors = spyOn(log, 'error').mockImplementation(() => {})
    const after = await startTestService({ dataDir: before.dataDir })
    const task = await after.engine.given(1)
    expect(task.input.vocabulary).toEqual([])
    after.engine.finish(task)
    while (findJob(after.db, damaged)?.state !== 'completed') await Bun.sleep(2)
    expect(readRemembered(after.db)).toEqual([])
    expect(findNames(after.db, [damaged]).get(damaged)?.name).toBe('talk.mp3')
    expect(errors.mock.calls).toEqual(
      [
        { table: 'jobs', id: damaged, column: 'vocabulary' },
        { table: 'jobs', id: damaged, column: 'metadata' },
        { table: 'fleet', id: '1', column: 'remembered' },
      ].map(place => ['damaged text in the database', place]),
    )
  },
)

steered.each(['request', 'command'])(
  'a job that was interrupted, and cancelled by a %s before an engine is ready, never reaches an engine',
  async by => {
    const service = await startTestService()
    const ana = service.account('ana')
    const interrupted = await ana.transcribe(speech(60))
    await service.engine.given(1)
    const waiting = await ana.transcribe(speech(30))
    await ana.until(waiting, 'pending')
    await service.stop()

    service.engine.setReady(false)
    const again = await startTestService({ dataDir: service.dataDir, parts: { engine: service.engine } })
    const send = (method: string, path: string) =>
      again.fetch(path, { method, headers: { Authorization: `Bearer ${ana.key}` } })
    if (by === 'command') failJob(again.db, interrupted, { code: 'CANCELLED' })
    else expect((await send('POST', `/v1/transcribe/${interrupted}/cancel`)).status).toBe(200)
    again.later(0)
    service.engine.setReady(true)
    const { input } = await service.engine.given(2)
    expect(input.durationMs).toBe(30_000)
    expect((await send('GET', `/v1/transcribe/${interrupted}`)).body.error.code).toBe('CANCELLED')
    expect(cancelledIn((await again.fetch('/metrics')).text)).toBe('1')
  },
)

test('the work of a job can be stopped, also after earlier work of this job has ended', async () => {
  const work = new WorkUnderWay()
  const first = Promise.withResolvers<void>()
  const running = work.run('job', () => first.promise)
  const later = work.run(
    'job',
    signal => new Promise(resolve => signal.addEventListener('abort', () => resolve())),
  )
  first.resolve()
  await running
  expect(work.jobIds()).toEqual(['job'])
  work.stop('job')
  expect(work.jobIds()).toEqual([])
  await later
})

steered('a cancelled job counts once, even if a sweep runs before its engine has stopped', async () => {
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>()
  const engine = { ...steeredEngine(), transcribe: () => stopped }
  const service = await startTestService({ parts: { engine } })
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(60))
  await ana.until(id, 'processing')
  expect((await ana.post(`/v1/transcribe/${id}/cancel`)).status).toBe(200)
  service.later(0)
  const metrics = (await service.fetch('/metrics')).text
  stop(new Error('killed'))
  expect(cancelledIn(metrics)).toBe('1')
})

steered(
  'a job that a command ends counts, and ends for its engine, even if its step ends first',
  async () => {
    const service = await startTestService()
    const ended: string[] = []
    service.engine.ended = id => void ended.push(id)
    const ana = service.account('ana')
    const id = await ana.transcribe(speech(60))
    const task = await service.engine.given(1)
    // The job is cancelled only in the database, as by a command in another process. So the running step of the job is
    // not aborted.
    failJob(service.db, id, { code: 'CANCELLED' })
    service.engine.finish(task)
    await ana.transcribe(speech(60))
    await service.engine.given(2)
    service.later(0)
    expect(ended).toEqual([id])
    expect(cancelledIn((await service.fetch('/metrics')).text)).toBe('1')
  },
)

function cancelledIn(metrics: string): string | undefined {
  return /jobs_ended_total\{state="failed",code="CANCELLED"\} (\d+)/.exec(metrics)?.[1]
}

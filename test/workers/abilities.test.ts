// Tests which engine gets a job: the engine of the server, or the engine of a worker. In most tests, only one of the
// two can do the job. Each engine does one job at a time.

import { expect } from 'bun:test'
import { steeredEngine } from '../support/engine.ts'
import { charges, startFleet, until } from '../support/fleet.ts'
import { natsTest, sharedNats } from '../support/nats.ts'

const nats = sharedNats()

/** Starts a server with its own engine, and a ready worker. */
async function start(own: { languages?: string[]; diarization?: string }, worker: { languages?: string[] }) {
  const languages = ['en', 'de']
  const { service, startOwn } = await startFleet(nats.url, { STENO_WORKERS: '1' })
  const state = service.engine.state
  service.engine.languages = () => own.languages ?? languages
  service.engine.state = () => ({ ...state(), diarization: own.diarization ?? 'ready' })
  const { engine, stop } = await startOwn('gpu-1', {
    ...steeredEngine(),
    languages: () => worker.languages ?? languages,
  })
  await until(async () => (await service.fetch('/v1/ready')).body.workers.list[0]?.ready)
  return { service, ana: service.account('ana'), own: service.engine, worker: engine, stopWorker: stop }
}

natsTest('a job that only the server can do waits for the engine of the server', async () => {
  const { service, ana, own, worker } = await start({}, { languages: ['en'] })
  const first = await ana.transcribe(undefined, { language: 'de' })
  await own.given(1)
  const second = await ana.transcribe(undefined, { language: 'de' })
  await ana.until(second, 'pending')
  // The second job waits for the first one, and this wait is longer than the timeout. It must not count for the timeout
  // of the second job.
  service.later(46 * 60_000)
  expect((await ana.until(first, 'failed')).error.code).toBe('PROCESSING_TIMEOUT')
  own.finish(await own.given(2))
  expect(worker.tasks).toHaveLength(0)
  await ana.until(second, 'completed')
})

natsTest('a job that only a worker can do waits for this worker', async () => {
  const { ana, own, worker } = await start({ languages: ['en'] }, {})
  const first = await ana.transcribe(undefined, { language: 'de' })
  const task = await worker.given(1)
  const second = await ana.transcribe(undefined, { language: 'de' })
  await ana.until(second, 'pending')
  expect(own.tasks).toHaveLength(0)
  worker.finish(task)
  await ana.until(first, 'completed')
  worker.finish(await worker.given(2))
  await ana.until(second, 'completed')
})

natsTest('accounts take turns also when only the server can do their jobs', async () => {
  const { service, ana, own, worker } = await start({}, { languages: ['en'] })
  const ben = service.account('ben')
  const ids = []
  for (let count = 0; count < 4; count++) ids.push(await ana.transcribe(undefined, { language: 'de' }))
  await ana.until(ids[3]!, 'pending')
  const late = await ben.transcribe(undefined, { language: 'de' })
  await ben.until(late, 'pending')
  own.finish(await own.given(1))
  own.finish(await own.given(2))
  await ben.until(late, 'completed')
  expect((await ana.get(`/v1/transcribe/${ids[1]}`)).body.status).not.toBe('completed')
  expect(worker.tasks).toHaveLength(0)
})

natsTest('a job for a free worker overtakes jobs that only the busy server can do', async () => {
  const { ana, own, worker } = await start({}, { languages: ['en'] })
  await ana.transcribe(undefined, { language: 'de' })
  await own.given(1)
  const waiting = await ana.transcribe(undefined, { language: 'de' })
  const other = await ana.transcribe(undefined, { language: 'en' })
  worker.finish(await worker.given(1))
  await ana.until(other, 'completed')
  await ana.until(waiting, 'pending')
})

natsTest('a job with diarization goes to a worker if only workers can do diarization', async () => {
  const { ana, own, worker } = await start({ diarization: 'The models are missing.' }, {})
  const id = await ana.transcribe(undefined, { diarize: true })
  worker.finish(await worker.given(1))
  await ana.until(id, 'completed')
  expect(own.tasks).toHaveLength(0)
})

natsTest('the engine of the server does a job whose worker is gone', async () => {
  const { service, ana, own, worker, stopWorker } = await start({}, {})
  const ids = [await ana.transcribe()]
  const task = await own.given(1)
  ids.push(await ana.transcribe())
  await worker.given(1)
  await stopWorker()
  own.finish(task)
  ids.push(await ana.transcribe())
  own.finish(await own.given(2))
  own.finish(await own.given(3))
  for (const id of ids) {
    await ana.until(id, 'completed')
    expect(charges(service, id)).toEqual(['reserve', 'settle'])
  }
})

natsTest('a job in Javanese, with the code jv or jw, goes to workers that know the language', async () => {
  const { ana, own, worker } = await start({}, { languages: ['en', 'jw'] })
  const ids = [await ana.transcribe(undefined, { language: 'jv' })]
  worker.finish(await worker.given(1))
  ids.push(await ana.transcribe(undefined, { language: 'jw' }))
  worker.finish(await worker.given(2))
  for (const id of ids) await ana.until(id, 'completed')
  expect(own.tasks).toHaveLength(0)
})

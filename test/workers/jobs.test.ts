// Tests the hand-over of jobs to workers, with a real nats-server, a real server and workers whose engines the test
// controls.

import { expect } from 'bun:test'
import { natsTest, startNats } from '../support/nats.ts'
import { startTestService } from '../support/service.ts'
import { startWorker } from '../support/workers.ts'

/** Starts nats-server, and a server without an engine of its own. */
async function startServer(settings: Record<string, string> = {}) {
  const nats = await startNats()
  const service = await startTestService({
    program: null,
    settings: { STENO_NATS: nats.url, STENO_WORKERS: '0', STENO_WORKER_LEASE: '1s', ...settings },
  })
  return { nats, service, server: service.url }
}

natsTest('a job waits in pending until a worker comes, and the worker completes it', async () => {
  const { nats, service, server } = await startServer()
  const ana = service.account('ana')
  const id = await ana.transcribe()
  await ana.until(id, 'pending')
  const { engine } = await startWorker({ nats: nats.url, server })
  const task = await engine.given(1)
  expect(await Bun.file(task.input.path).text()).toBe('steno-test 60.000')
  expect((await ana.job(id)).status).toBe('processing')
  engine.finish(task, 'Good morning to you.')
  const job = await ana.until(id, 'completed')
  expect(job.result.full_transcript).toBe('Good morning to you.')
  expect((await ana.balance()).reserved_cents).toBe(0)
  expect(await Bun.file(task.input.path).exists()).toBe(false)
})

// Tests messages that arrive too late or twice, and a worker whose clock is wrong.

import { afterAll, expect } from 'bun:test'
import { selfCommand } from '../../src/base/self.ts'
import { tokenFor } from '../../src/workers/addresses.ts'
import { openNats } from '../../src/workers/connection.ts'
import { bytesOf } from '../../src/workers/requests.ts'
import { subjectsOf } from '../../src/workers/subjects.ts'
import { transcriptOf } from '../support/engine.ts'
import { charges, startFleet } from '../support/fleet.ts'
import { temporaryFolder } from '../support/folder.ts'
import { natsTest, sharedNats } from '../support/nats.ts'

const nats = sharedNats()

natsTest('a replayed result and a result for a deleted job are refused, and change nothing', async () => {
  const { service, cluster, startOwn } = await startFleet(nats.url)
  const ana = service.account('ana')
  const { engine } = await startOwn()
  const id = await ana.transcribe()
  const task = await engine.given(1)
  const fence =
    service.db.find<{ fence: number }>('select fence from jobs where id = $id', { id })?.fence ?? 0
  engine.finish(task, 'Once.')
  await ana.until(id, 'completed')

  const wire = await openNats(
    { address: nats.url, credentials: null },
    { name: 'replay', inboxPrefix: subjectsOf(cluster).inbox('gpu-1') },
  )
  const transcript = transcriptOf(task.input, 'Twice.')
  const replayed = { session: 'x', job: id, fence, token: tokenFor(service.secrets, id, fence), transcript }
  const send = async () =>
    (await wire.request(subjectsOf(cluster).request('gpu-1', 'result'), bytesOf(replayed))).json()
  expect(await send()).toEqual({ kind: 'refused' })
  expect((await ana.job(id)).result.full_transcript).toBe('Once.')
  expect((await ana.delete(`/v1/transcribe/${id}`)).status).toBeLessThan(300)
  expect(await send()).toEqual({ kind: 'refused' })
  expect((await ana.get(`/v1/transcribe/${id}`)).status).toBe(404)
  expect(charges(service, id)).toEqual(['reserve', 'settle'])
  await wire.close()
})

natsTest('a worker whose clock is a day ahead or behind does its job', async () => {
  const { service, cluster } = await startFleet(nats.url)
  const ana = service.account('ana')
  for (const hours of [24, -24]) {
    const folder = temporaryFolder()
    const worker = Bun.spawn(selfCommand('simulated-worker'), {
      env: {
        ...process.env,
        TMPDIR: folder,
        TEST_CLOCK_HOURS: `${hours}`,
        TEST_NATS: nats.url,
        TEST_SERVER: service.url,
        TEST_CLUSTER: cluster,
        TEST_PARENT: `${process.pid}`,
      },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    afterAll(() => worker.kill('SIGKILL'))
    const id = await ana.transcribe()
    await ana.until(id, 'completed')
    expect(charges(service, id)).toEqual(['reserve', 'settle'])
    worker.kill('SIGKILL')
    await worker.exited
  }
})

// Tests messages that a worker does not understand. An attacker with the credentials of another worker can make
// JetStream send such messages: JetStream does not check the rights for the reply subject of a request.

import { expect } from 'bun:test'
import { poolOf } from '../../src/workers/pools.ts'
import { priorities, subjectsOf } from '../../src/workers/subjects.ts'
import { openFleet } from '../support/bare-fleet.ts'
import { steeredEngine } from '../support/engine.ts'
import { helloOf, until } from '../support/fleet.ts'
import { natsTest, sharedNats } from '../support/nats.ts'
import { startWorker } from '../support/workers.ts'

const nats = sharedNats()
const malformed = ['', 'stop', 'null', '7', '{}', '{"protocol":1,"job":"absent"}', '{"job":7,"fence":1}']

natsTest('a worker hears the server also after orders that it does not understand', async () => {
  const { wire } = await openFleet(nats.url, 'orders')
  const { worker } = await startWorker({ nats: nats.url, server: '', cluster: 'orders' })
  await worker.modelHub()
  for (const order of malformed) wire.publish(subjectsOf('orders').stop('gpu-1'), order)
  await wire.flush()
  expect((await worker.modelHub()).token).toBeString()
})

natsTest('a worker removes messages from its queues that it does not understand', async () => {
  const cluster = 'junk'
  const { wire, hello, queued } = await openFleet(nats.url, cluster)
  const languages = [...steeredEngine().languages()]
  await hello(languages)
  const pool = poolOf(helloOf(languages))
  for (const priority of priorities)
    for (const [index, text] of malformed.entries())
      await wire.request(subjectsOf(cluster).job(pool, priority, `junk-${index}`), text)
  expect(await queued()).toHaveLength(2 * malformed.length)
  const { engine, ...other } = await startWorker({ nats: nats.url, server: '', cluster, name: 'gpu-2' })
  await until(async () => (await queued()).length === 0)
  await other.stop()
  expect(engine.tasks).toEqual([])
})

// Tests the subjects to which the server and JetStream send their answers. A worker names the reply subject in its
// request, and NATS does not check the worker's rights for it. The server and JetStream have more rights than a worker.
// So without a check, a worker could make them send a message to a subject to which the worker itself may not send.

import { expect } from 'bun:test'
import { jetstreamManager } from '@nats-io/jetstream'
import { limits } from '../../src/limits.ts'
import { openNats } from '../../src/workers/connection.ts'
import { poolOf } from '../../src/workers/pools.ts'
import { bytesOf, protocol } from '../../src/workers/requests.ts'
import { consumerOf, subjectsOf } from '../../src/workers/subjects.ts'
import { openFleet } from '../support/bare-fleet.ts'
import { helloOf, until } from '../support/fleet.ts'
import { natsTest } from '../support/nats.ts'
import { startShownNats } from '../support/shown-nats.ts'

const subjects = subjectsOf('main')

natsTest('the server answers a worker only at the inbox of this worker', async () => {
  const addressOf = await startShownNats()
  const { wire, queued } = await openFleet(addressOf('server'), 'main')
  const heard: string[] = []
  wire.subscribe('steno.main.>', { callback: (_error, { subject }) => void heard.push(subject) })
  await wire.flush()
  const thief = await openThief(addressOf('gpu-2'))
  const request = [subjects.request('gpu-2', 'models'), bytesOf({ protocol })] as const
  for (const reply of foreignReplies) thief.publish(...request, { reply })
  // With the documented rights, a worker may not send to the subject `serverPresence`, but a worker with wider rights
  // could. So the test sends these messages over the connection of the server.
  for (const reply of foreignReplies.slice(0, -1)) wire.publish(subjects.serverPresence, '', { reply })
  await wire.flush()
  // The server answers requests in their order, so it has handled all earlier messages when this request is answered.
  await thief.request(...request)
  await wire.flush()
  expect(heard.filter(subject => foreignReplies.includes(subject))).toEqual([])
  expect(await queued()).toEqual([])
  await thief.close()
})

natsTest('JetStream answers a worker on no subject of another account', async () => {
  const addressOf = await startShownNats()
  const { hello, manager } = await openFleet(addressOf('server'), 'main')
  await hello(['en'])
  await until(async () => (await manager.streams.info('STENO_main')).state.consumer_count === 2)
  const other = await openNats(
    { address: addressOf('other'), credentials: null },
    { name: 'other', inboxPrefix: '_INBOX' },
  )
  const { streams } = await jetstreamManager(other)
  await streams.add({ name: 'ORDERS', subjects: ['orders.>'] })
  await other.request('orders.new', '{}')
  const thief = await openThief(addressOf('gpu-2'))
  const next = `$JS.API.CONSUMER.MSG.NEXT.STENO_main.${consumerOf(poolOf(helloOf(['en'])), 'first')}`
  // The thief asks for a job. No job waits, so JetStream answers with an empty message. The thief names the subject of
  // a purge request as its reply address. If JetStream sent the empty message there, this would count as a request to
  // remove all messages from the stream ORDERS.
  thief.publish(next, '{"no_wait":true}', { reply: '$JS.API.STREAM.PURGE.ORDERS' })
  await thief.request(next, '{"no_wait":true}', { noMux: true, timeout: limits.workerRequestMs })
  expect((await streams.info('ORDERS')).state.messages).toBe(1)
  await thief.close()
  await other.close()
})

const openThief = (address: string) =>
  openNats({ address, credentials: null }, { name: 'thief', inboxPrefix: subjects.inbox('gpu-2') })

const foreignReplies = [
  subjects.job('pool', 'first', 'forged'),
  subjects.request('gpu-1', 'hello'),
  subjects.stop('gpu-1'),
  `${subjects.inbox('gpu-1')}.forged`,
  subjects.stop('gpu-2'),
  subjects.inbox('gpu-2'),
  `${subjects.inbox('gpu-2')}s.forged`,
  `${subjects.serverInbox}.forged`,
]

// Tests where the server sends its answers. NATS does not check the rights of a worker for the reply subject of its
// request, and the server has more rights than a worker. nats-server has the settings from docs/workers.md.

import { expect } from 'bun:test'
import { openNats } from '../../src/workers/connection.ts'
import { bytesOf, protocol } from '../../src/workers/requests.ts'
import { subjectsOf } from '../../src/workers/subjects.ts'
import { openFleet } from '../support/bare-fleet.ts'
import { natsTest } from '../support/nats.ts'
import { startShownNats } from '../support/shown-nats.ts'

const subjects = subjectsOf('main')

natsTest('the server answers a worker only at the inbox of this worker', async () => {
  const addressOf = await startShownNats()
  const { wire, queued } = await openFleet(addressOf('server'), 'main')
  const heard: string[] = []
  wire.subscribe('steno.main.>', { callback: (_error, { subject }) => void heard.push(subject) })
  await wire.flush()
  const thief = await openNats(
    { address: addressOf('gpu-2'), credentials: null },
    { name: 'thief', inboxPrefix: subjects.inbox('gpu-2') },
  )
  const request = [subjects.request('gpu-2', 'models'), bytesOf({ protocol })] as const
  for (const reply of foreignReplies) thief.publish(...request, { reply })
  // The server answers requests in their order.
  await thief.request(...request)
  await wire.flush()
  expect(heard.filter(subject => foreignReplies.includes(subject))).toEqual([])
  expect(await queued()).toEqual([])
  await thief.close()
})

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

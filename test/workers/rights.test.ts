// Tests what an attacker can do with a worker's stolen credentials, and which rights the server has. nats-server has
// the settings from docs/workers.md.

import { expect, spyOn } from 'bun:test'
import { log } from '../../src/base/log.ts'
import { type NatsConnection, openNats } from '../../src/workers/connection.ts'
import { bytesOf, protocol } from '../../src/workers/requests.ts'
import { JobStream } from '../../src/workers/stream.ts'
import { type RequestKind, subjectsOf } from '../../src/workers/subjects.ts'
import { transcriptOf } from '../support/engine.ts'
import { charges, startFleet, until } from '../support/fleet.ts'
import { natsTest } from '../support/nats.ts'
import { startShownNats } from '../support/shown-nats.ts'
import { startWorker } from '../support/workers.ts'

const subjects = subjectsOf('main')

natsTest('a stolen credential reads nothing of others and changes nothing', async () => {
  const addressOf = await startShownNats()
  const { service } = await startFleet(addressOf('server'), { STENO_CLUSTER: 'main' })
  const ana = service.account('ana')
  const { engine } = await startWorker({ nats: addressOf('gpu-1'), server: service.url, name: 'gpu-1' })
  const id = await ana.transcribe()
  const task = await engine.given(1)

  const wire = { address: addressOf('gpu-2'), credentials: null }
  const thief = await openNats(wire, { name: 'thief', inboxPrefix: subjects.inbox('gpu-2') })
  const refused = collectRefusals(thief)
  const heard: string[] = []
  for (const subject of forbiddenToRead)
    thief.subscribe(subject, { callback: (_error, message) => void heard.push(message.subject) })
  for (const subject of forbiddenToSend) thief.publish(subject, '{}')
  const attempts = [...forbiddenToRead, ...forbiddenToSend]
  await until(() => refused.length >= attempts.length)
  expect(refused.toSorted()).toEqual(attempts.toSorted())

  const ask = async (kind: RequestKind, request: object) =>
    (await thief.request(subjects.request('gpu-2', kind), bytesOf(request))).json()
  for (let sequence = 1; sequence <= 3; sequence++) {
    const claim = { protocol, session: 'x', job: id, sequence, delivery: 1 }
    const refusals: unknown[] = [{ kind: 'over' }, { kind: 'later', afterMs: expect.any(Number) }]
    expect(refusals).toContainEqual(await ask('claim', claim))
  }
  const forged = { session: 'x', job: id, fence: 2, token: 'forged' }
  expect(await ask('addresses', forged)).toEqual({ kind: 'stop' })
  expect(await ask('beat', { ...forged, seconds: 1, first: 0, utterances: [] })).toEqual({ kind: 'stop' })
  const transcript = transcriptOf(task.input, 'Not what was said.')
  expect(await ask('result', { ...forged, transcript })).toEqual({ kind: 'refused' })

  engine.finish(task, 'What was said.')
  expect((await ana.until(id, 'completed')).result.full_transcript).toBe('What was said.')
  expect(charges(service, id)).toEqual(['reserve', 'settle'])
  expect(heard).toEqual([])
  await thief.close()
})

natsTest('the rights of the server are enough for its stream, and for no other stream', async () => {
  const addressOf = await startShownNats()
  const wire = { address: addressOf('server'), credentials: null }
  const server = await openNats(wire, { name: 'server', inboxPrefix: subjects.serverInbox })
  const stream = await JobStream.open(server, 'main', 1000)
  await stream.openPool('pool')
  const sequence = await stream.put('pool', 'first', 'job')
  expect(await stream.put('pool', 'first', 'job')).toBe(sequence)
  await stream.remove(sequence)
  expect(await stream.put('pool', 'first', 'job')).toBe(sequence + 1)
  await stream.closePool('pool')

  const refused = collectRefusals(server)
  for (const subject of forbiddenToServer) server.publish(subject, '{}')
  await until(() => refused.length >= forbiddenToServer.length)
  expect(refused.toSorted()).toEqual(forbiddenToServer.toSorted())
  await server.close()
})

natsTest('a worker whose user has rights for another name logs why it gets nothing', async () => {
  const addressOf = await startShownNats()
  const told = Promise.withResolvers<unknown>()
  const errors = spyOn(log, 'error').mockImplementation((event, fields) =>
    told.resolve([event, fields?.error]),
  )
  await startWorker({ nats: addressOf('gpu-1'), server: '', name: 'gpu-2' })
  expect(await told.promise).toEqual([
    'orders to stop cannot be received',
    'Permissions Violation for Subscription to "steno.main.to.gpu-2.stop"',
  ])
  errors.mockRestore()
})

/**
 * NATS subjects that a worker must not read, such as those of jobs, requests, results, replies with signed addresses,
 * and JetStream.
 */
const forbiddenToRead = [
  '>',
  'steno.>',
  'steno.main.>',
  subjects.allJobs,
  subjects.allRequests,
  subjects.request('gpu-1', 'result'),
  'steno.main.to.gpu-1.>',
  'steno.main.to.*.>',
  `${subjects.serverInbox}.>`,
  '_INBOX.>',
  '$JS.>',
  '$SYS.>',
]

/**
 * NATS subjects to which a worker must not send. The first six subjects are for the server or another worker. The
 * subjects that begin with `$JS.API` are requests to JetStream.
 */
const forbiddenToSend = [
  subjects.job('pool', 'first', 'forged'),
  subjects.request('gpu-1', 'hello'),
  subjects.request('gpu-1', 'result'),
  subjects.stop('gpu-1'),
  `${subjects.inbox('gpu-1')}.forged`,
  `${subjects.serverInbox}.forged`,
  '$JS.API.INFO',
  '$JS.API.STREAM.NAMES',
  '$JS.API.STREAM.CREATE.OTHER',
  '$JS.API.STREAM.INFO.STENO_main',
  '$JS.API.STREAM.UPDATE.STENO_main',
  '$JS.API.STREAM.PURGE.STENO_main',
  '$JS.API.STREAM.DELETE.STENO_main',
  '$JS.API.STREAM.MSG.GET.STENO_main',
  '$JS.API.STREAM.MSG.DELETE.STENO_main',
  '$JS.API.STREAM.SNAPSHOT.STENO_main',
  '$JS.API.DIRECT.GET.STENO_main',
  '$JS.API.CONSUMER.CREATE.STENO_main',
  '$JS.API.CONSUMER.DURABLE.CREATE.STENO_main.mine',
  '$JS.API.CONSUMER.DELETE.STENO_main.mine',
  '$JS.API.CONSUMER.MSG.NEXT.STENO_other.pool_first',
]

/** NATS subjects to which the server must not send. Most belong to a stream of another program. */
const forbiddenToServer = [
  'orders.new',
  '$JS.API.STREAM.NAMES',
  '$JS.API.STREAM.CREATE.ORDERS',
  '$JS.API.STREAM.PURGE.ORDERS',
  '$JS.API.STREAM.DELETE.ORDERS',
  '$JS.API.STREAM.MSG.GET.ORDERS',
  '$JS.API.CONSUMER.CREATE.ORDERS.mine',
  '$JS.API.STREAM.UPDATE.STENO_main',
  '$JS.API.STREAM.PURGE.STENO_main',
  '$JS.API.STREAM.DELETE.STENO_main',
]

/** Returns a list that collects the NATS subjects of refused messages and subscriptions. */
function collectRefusals(nats: NatsConnection): string[] {
  const refused: string[] = []
  const collect = async () => {
    for await (const status of nats.status())
      if (status.type === 'error' && 'subject' in status.error) refused.push(`${status.error.subject}`)
  }
  void collect()
  return refused
}

// Tests messages that the server or a worker does not understand. An attacker with the credentials of another worker
// can make JetStream send such messages to a worker. For this, the attacker sends a request to JetStream and names a
// subject of the worker as the reply subject. JetStream sends its answer there, and does not check whether the attacker
// may send to this subject.

import { expect, spyOn, test } from 'bun:test'
import { log } from '../../src/base/log.ts'
import { poolOf } from '../../src/workers/pools.ts'
import { bytesOf, isRequestKind, protocol, readRequest } from '../../src/workers/requests.ts'
import { priorities, type RequestKind, subjectsOf } from '../../src/workers/subjects.ts'
import { openFleet } from '../support/bare-fleet.ts'
import { steeredEngine } from '../support/engine.ts'
import { helloOf, until } from '../support/fleet.ts'
import { natsTest, sharedNats } from '../support/nats.ts'
import { startWorker } from '../support/workers.ts'

const nats = sharedNats()
const malformed = ['', 'stop', 'null', '7', '{}', '{"protocol":1,"job":"absent"}', '{"job":7,"fence":1}']

test('the server reads no request with a value out of its range, and a report of an older worker', () => {
  const held = { session: 'x', job: 'job', fence: 1, token: '' }
  const beat = { ...held, seconds: 0, first: 0, utterances: [] }
  const failure = { code: 'PROCESSING_ERROR', message: 'why' }
  const isRead = (kind: RequestKind, message: object) => readRequest(kind, bytesOf(message)) !== null
  expect([isRead('beat', beat), isRead('result', { ...held, failure })]).toEqual([true, true])
  expect(isRead('hello', helloOf(['en']))).toBe(true)
  for (const change of [{ first: -1 }, { seconds: -1 }, { fence: 0 }, { first: 0.5 }])
    expect(isRead('beat', { ...beat, ...change })).toBe(false)
  for (const slots of [0, 1025]) expect(isRead('hello', { ...helloOf(['en']), slots })).toBe(false)
  expect(isRead('result', { ...held, failure: { ...failure, code: 'NO_CODE' } })).toBe(false)
  expect([isRequestKind('beat'), isRequestKind('toString')]).toEqual([true, false])
})

natsTest('the server logs each kind of wrong request once, and answers no unknown request', async () => {
  const subjects = subjectsOf('wrong')
  const { wire, hello } = await openFleet(nats.url, 'wrong')
  using warn = spyOn(log, 'warn').mockImplementation(() => {})
  const reply = `${subjects.inbox('gpu-1')}.answer`
  const answers: unknown[] = []
  wire.subscribe(reply, { callback: (_error, message) => void answers.push(message.json()) })
  const claim = subjects.request('gpu-1', 'claim')
  for (const text of ['{', '{}']) wire.publish(claim, text, { reply })
  wire.publish(claim.replace('claim', 'unknown'), '{}', { reply })
  const models = subjects.request('gpu-1', 'models')
  for (const other of ['a', 'b']) wire.publish(models, bytesOf({ protocol }), { reply: other })
  // The server answers requests in their order, so it has answered all earlier ones when it answers this `hello`.
  await hello(['en'])
  const message = 'The server does not understand this message, or it is too large.'
  const refused = { kind: 'refused', message }
  expect(answers).toEqual([refused, refused])
  expect<unknown>(warn.mock.calls).toEqual([
    ['request of a worker not understood', { worker: 'gpu-1', kind: 'claim', bytes: 1 }],
    ['reply subject of a worker refused', { worker: 'gpu-1', kind: 'models' }],
  ])
})

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

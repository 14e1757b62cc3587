// Tests NATS messages that reach the server together, and an answer that reaches a worker late, as on a busy machine.

import { expect } from 'bun:test'
import type { Msg } from '@nats-io/transport-node'
import { jobErrors } from '../../src/errors.ts'
import type { ClaimAnswer, HelloAnswer } from '../../src/workers/answers.ts'
import { openNats } from '../../src/workers/connection.ts'
import { type Delivery, pull } from '../../src/workers/delivery.ts'
import { bytesOf, protocol } from '../../src/workers/requests.ts'
import { type Priority, type RequestKind, streamOf, subjectsOf } from '../../src/workers/subjects.ts'
import { connect } from '../support/bare-fleet.ts'
import { helloOf, startFleet, until } from '../support/fleet.ts'
import { startLossyProxy } from '../support/lossy-proxy.ts'
import { natsTest, sharedNats } from '../support/nats.ts'
import { startWorker } from '../support/workers.ts'

const nats = sharedNats()

natsTest('a worker gets a job although its claim arrives before the number of the new message', async () => {
  const claimSubject = subjectsOf('order').request('gpu-1', 'claim')
  let claims = 0
  const proxy = await startLossyProxy(Number(new URL(nats.url).port), (from, bytes) => {
    if (from === 'target') claims += `${bytes}`.split(claimSubject).length - 1
  })
  const { service } = await startFleet(`nats://127.0.0.1:${proxy.port}`, {
    STENO_CLUSTER: 'order',
    STENO_WORKER_LEASE: '2s',
  })
  const wire = await openNats(
    { address: nats.url, credentials: null },
    { name: 'gpu-1', inboxPrefix: subjectsOf('order').inbox('gpu-1') },
  )
  const ask = async <Answer>(kind: RequestKind, request: object): Promise<Answer> =>
    (await wire.request(subjectsOf('order').request('gpu-1', kind), bytesOf(request))).json<Answer>()
  const hello = helloOf(['en'])
  let pool: string | null = null
  await until(async () => {
    const answer = await ask<HelloAnswer>('hello', hello).catch(() => null)
    if (answer?.kind === 'welcome') pool = answer.pool
    return pool !== null
  })
  const next = async (priority: Priority): Promise<Delivery> => {
    // The server gives jobs only to workers that have sent a message in the last two seconds, so this message is sent
    // first. In a part of the test, `proxy` holds back all messages to the server. The server can then not answer, so
    // the test does not wait for the answer.
    wire.publish(subjectsOf('order').request('gpu-1', 'hello'), bytesOf(hello))
    const { signal: lost } = new AbortController()
    const delivery = await pull(wire, 'order', { pool: pool ?? '', priority, waitMs: 500, lost })
    return delivery ?? (await next(priority))
  }
  const claim = ({ sequence, count }: Delivery) =>
    ask<ClaimAnswer>('claim', { protocol, session: 'x', job: id, sequence, delivery: count })
  const id = await service.account('ana').transcribe()
  const first = await claim(await next('first'))
  if (first.kind !== 'yours') throw new Error(first.kind)
  const failure = { code: 'INTERNAL_ERROR', message: jobErrors.INTERNAL_ERROR }
  const { fence, token } = first
  expect(await ask<unknown>('result', { session: 'x', job: id, fence, token, failure })).toEqual({
    kind: 'again',
  })
  // The server now puts a message for the job into its queue named `again`. JetStream answers with the number of this
  // message. The proxy holds the answer back until the worker's claim of the job has also reached the proxy. So the
  // server receives the answer and the claim together.
  const before = claims
  const release = proxy.hold()
  const again = await next('again')
  const second = claim(again)
  await until(() => claims > before)
  release()
  expect((await second).kind).toBe('yours')
  await wire.close()
  proxy.close()
})

natsTest('a worker whose languages changed ignores a late answer to its earlier message hello', async () => {
  const subjects = subjectsOf('late')
  const { wire } = await connect(nats.url, 'late')
  const hellos: Msg[] = []
  const pools: string[] = []
  const begun = Promise.withResolvers<void>()
  const changed = Promise.withResolvers<void>()
  const pulled = Promise.withResolvers<void>()
  wire.subscribe(subjects.request('gpu-2', 'hello'), {
    callback(_error, message) {
      hellos.push(message)
      if (hellos.length === 1) begun.resolve()
      else changed.resolve()
    },
  })
  wire.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${streamOf('late')}.*`, {
    callback(_error, message) {
      pools.push(message.subject.split('.').at(-1) ?? '')
      if (pools.length === 4) pulled.resolve()
      message.respond()
    },
  })
  await wire.flush()
  const { engine, stop } = await startWorker({
    nats: nats.url,
    server: '',
    cluster: 'late',
    name: 'gpu-2',
  })
  await begun.promise
  engine.languages = () => ['en']
  engine.setReady(false)
  engine.setReady(true)
  await changed.promise
  const [before, after] = hellos
  const answer = { kind: 'welcome', leaseMs: 60_000, stop: [] }
  after?.respond(bytesOf({ ...answer, pool: 'new' }))
  before?.respond(bytesOf({ ...answer, pool: 'old' }))
  await pulled.promise
  expect(pools.slice(2)).toEqual(['new_again', 'new_first'])
  await stop()
})

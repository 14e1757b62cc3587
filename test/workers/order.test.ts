// Tests messages of NATS that reach the server together, as on a busy machine.

import { expect } from 'bun:test'
import { jobErrors } from '../../src/errors.ts'
import type { ClaimAnswer, HelloAnswer } from '../../src/workers/answers.ts'
import { openNats } from '../../src/workers/connection.ts'
import { type Delivery, pull } from '../../src/workers/delivery.ts'
import { bytesOf, protocol } from '../../src/workers/requests.ts'
import { type Priority, type RequestKind, subjectsOf } from '../../src/workers/subjects.ts'
import { helloOf, startFleet, until } from '../support/fleet.ts'
import { startLossyProxy } from '../support/lossy-proxy.ts'
import { natsTest, sharedNats } from '../support/nats.ts'

const nats = sharedNats()

natsTest('a worker gets a job although its claim overtakes the number of the new message', async () => {
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
    // The server puts jobs only into the queues of workers that it has heard of in the last two seconds. It may be
    // unable to answer at the moment, so the answer is not awaited.
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
  // The server now puts the job into the queue `again`. It reads the number of this message after the claim, or in the
  // same moment.
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

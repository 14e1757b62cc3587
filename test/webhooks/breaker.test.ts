import { expect, test } from 'bun:test'
import { limits } from '../../src/limits.ts'
import { openBreaker } from '../../src/webhooks/breaker.ts'
import type { Outcome } from '../../src/webhooks/deliver.ts'

const { webhookTimeoutsMax, webhookSkippedMs, webhookReceiversKeptMs } = limits

type Kind = 'timeout' | 'delivered' | 'stopped' | 'forbidden-address'

/**
 * Creates circuit breakers for webhook receivers, with a simulated clock and with delivery outcomes that the test
 * chooses.
 */
function openRoom() {
  let now = 0
  const breaker = openBreaker(() => now)
  return {
    later: (ms: number) => {
      now += ms
    },
    deliver: async (kind: Kind, receiver = 'dead') =>
      (await breaker.run(receiver, async () => outcomeOf(kind))).kind,
    breaker,
    async open(): Promise<void> {
      for (let count = 0; count < webhookTimeoutsMax; count++) await this.deliver('timeout')
    },
  }
}

function outcomeOf(kind: Kind): Outcome {
  return kind === 'delivered' ? { kind, status: 200 } : { kind }
}

test('after enough timeouts in a row deliveries to a receiver are skipped, but not to others', async () => {
  const room = openRoom()
  for (let count = 0; count < webhookTimeoutsMax; count++)
    expect(await room.deliver('timeout')).toBe('timeout')
  expect(await room.deliver('delivered')).toBe('skipped')
  expect(await room.deliver('delivered', 'other')).toBe('delivered')
})

test('a delivery between timeouts keeps the breaker closed', async () => {
  const room = openRoom()
  for (let count = 0; count < 3 * webhookTimeoutsMax; count++) {
    expect(await room.deliver('timeout')).toBe('timeout')
    if (count % 3 === 2) expect(await room.deliver('delivered')).toBe('delivered')
  }
})

test('an open breaker admits a probe after a while, and closes when the probe succeeds', async () => {
  const room = openRoom()
  await room.open()
  room.later(webhookSkippedMs - 1)
  expect(await room.deliver('delivered')).toBe('skipped')
  room.later(1)
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const probe = room.breaker.run('dead', () => promise)
  expect(await room.deliver('delivered')).toBe('skipped')
  resolve({ kind: 'delivered', status: 200 })
  expect((await probe).kind).toBe('delivered')
  expect(await room.deliver('delivered')).toBe('delivered')
})

test('a probe that times out opens the breaker again; after an aborted probe another one is admitted', async () => {
  const room = openRoom()
  await room.open()
  room.later(webhookSkippedMs)
  expect(await room.deliver('stopped')).toBe('stopped')
  expect(await room.deliver('timeout')).toBe('timeout')
  expect(await room.deliver('delivered')).toBe('skipped')
  room.later(webhookSkippedMs)
  expect(await room.deliver('delivered')).toBe('delivered')
})

test('after a probe that throws another one is admitted', async () => {
  const room = openRoom()
  await room.open()
  room.later(webhookSkippedMs)
  const broken = room.breaker.run('dead', () => Promise.reject(new Error('no signature')))
  await expect(broken).rejects.toThrow('no signature')
  expect(await room.deliver('delivered')).toBe('delivered')
})

test('timeouts that are long ago do not count', async () => {
  const room = openRoom()
  for (let count = 1; count < webhookTimeoutsMax; count++) await room.deliver('timeout')
  room.later(webhookReceiversKeptMs)
  expect(await room.deliver('timeout')).toBe('timeout')
  expect(await room.deliver('delivered')).toBe('delivered')
})

test('for a while, a receiver counts as answering after an answer, and as silent after a timeout', async () => {
  const room = openRoom()
  const state = () => [room.breaker.answers('receiver'), room.breaker.isSilent('receiver')]
  const unknown = [false, false]
  const answers = [true, false]
  const silent = [false, true]
  expect(state()).toEqual(unknown)
  for (const [outcome, wanted] of [
    ['delivered', answers],
    ['stopped', answers],
    ['timeout', silent],
    ['stopped', silent],
    ['forbidden-address', unknown],
    ['delivered', answers],
  ] as const) {
    await room.deliver(outcome, 'receiver')
    expect(state()).toEqual(wanted)
  }
  room.later(webhookReceiversKeptMs)
  expect(state()).toEqual(unknown)
  room.breaker.answered('receiver')
  expect(state()).toEqual(answers)
  await room.deliver('timeout', 'receiver')
  room.later(webhookReceiversKeptMs)
  expect(state()).toEqual(unknown)
})

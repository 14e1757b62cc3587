// Tests a webhook sender with receivers that never answer. The webhooks for such receivers must not delay other
// webhooks, or be lost when the server stops.

import { afterAll, afterEach, expect, jest, spyOn, test } from 'bun:test'
import { openSecrets } from '../../src/base/seal.ts'
import { createJob } from '../../src/jobs/create.ts'
import { listDueEvents } from '../../src/jobs/due-events.ts'
import { failJob } from '../../src/jobs/end.ts'
import type { Job } from '../../src/jobs/job.ts'
import { type Deliver, WebhookSender } from '../../src/jobs/webhook-sender.ts'
import { limits } from '../../src/limits.ts'
import type { Outcome } from '../../src/webhooks/deliver.ts'
import { makeAccount } from '../support/account.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { plainJob } from '../support/plain-job.ts'

const folder = temporaryFolder()
const db = openTestDb(folder)
const secrets = openSecrets(folder)
const [ana, ben] = ['ana', 'ben'].map(name => makeAccount(db, secrets, `${name}@example.org`, 10_000))

afterAll(() => db.close())
afterEach(() => {
  jest.useRealTimers()
})

/** Opens a sender that delivers each event with a call of `deliver`. A failed delivery is not tried again. */
function senderWith(deliver: Deliver) {
  const outcomes: string[] = []
  const onOutcome = (outcome: string) => outcomes.push(outcome)
  const sender = new WebhookSender({ db, secrets, monotonic: () => 0, retries: 0, deliver, onOutcome })
  return {
    outcomes,
    /** Starts to send the event of a failed job to `host`. Returns the id of the job. */
    send(host: string, { accountId, keyId } = ana!): string {
      const id = createJob(db, accountId, plainJob(keyId, { webhookUrl: `https://${host}/hook` }))
      sender.send(failJob(db, id, { code: 'CANCELLED' })!)
      return id
    },
    resume: () => sender.resume(),
    close: () => sender.close(),
  }
}

/**
 * Opens a sender. Receivers with `live` in their names answer at once. All other attempts wait until the test calls
 * `end`, and then time out.
 */
function openSender() {
  const ended = Promise.withResolvers<Outcome>()
  const delivered: string[] = []
  const { outcomes, send, close } = senderWith(async url => {
    const { host } = new URL(url)
    if (!host.includes('live')) return await ended.promise
    delivered.push(host)
    return { kind: 'delivered', status: 200 }
  })
  return {
    outcomes,
    send,
    /** Waits until `count` events are delivered. Returns their receivers. */
    async delivered(count: number): Promise<string[]> {
      while (outcomes.filter(outcome => outcome === 'delivered').length < count) await Bun.sleep(2)
      return delivered
    },
    async end(): Promise<void> {
      ended.resolve({ kind: 'timeout' })
      await close()
    },
  }
}

test('a receiver that answered lately does not wait for those that never answer', async () => {
  const sender = openSender()
  sender.send('live.example')
  await sender.delivered(1)
  for (let count = 0; count < limits.webhooksInFlightMax; count++) sender.send(`dead-${count}.example`)
  sender.send('live.example')
  await sender.delivered(2)
  sender.send('new-and-live.example', ben)
  expect(await sender.delivered(3)).toEqual(['live.example', 'live.example', 'new-and-live.example'])
  expect(sender.outcomes).not.toContain('timeout')
  await sender.end()
  expect(sender.outcomes).toHaveLength(limits.webhooksInFlightMax + 3)
})

test('many events of one receiver that never answers delay no other new receiver of the account', async () => {
  const sender = openSender()
  for (let count = 0; count < limits.webhooksInFlightMax; count++) sender.send('dead.example')
  for (let count = 0; count < 20; count++) sender.send('first-live.example')
  expect(await sender.delivered(20)).toHaveLength(20)
  await sender.end()
  const count = (outcome: string) => sender.outcomes.filter(each => each === outcome).length
  expect([count('timeout'), count('skipped')]).toEqual([
    limits.webhookTimeoutsMax,
    limits.webhooksInFlightMax - limits.webhookTimeoutsMax,
  ])
})

test('a receiver that has not answered lately gets one event at a time until it answers', async () => {
  let running = 0
  let isAlive = false
  let most = 0
  const together = Promise.withResolvers<void>()
  const sender = senderWith(async () => {
    running += 1
    most = Math.max(most, running)
    if (!isAlive) await Bun.sleep(1)
    else if (running === 2) together.resolve()
    else await together.promise
    running -= 1
    if (sender.outcomes.length === 2) {
      isAlive = true
      expect(most).toBe(1)
    }
    return isAlive ? { kind: 'delivered', status: 200 } : { kind: 'timeout' }
  })
  for (let count = 0; count < 10; count++) sender.send('slow.example')
  await sender.close()
  expect(most).toBeGreaterThan(1)
  expect(sender.outcomes).toEqual(['timeout', 'timeout', ...Array.from({ length: 8 }, () => 'delivered')])
})

test('a receiver that timed out ten times in a row is skipped, for this account only', async () => {
  const sender = senderWith(async () => ({ kind: 'timeout' }))
  for (let count = 0; count < 11; count++) sender.send('absent.example')
  while (sender.outcomes.length < 11) await Bun.sleep(2)
  sender.send('absent.example', ben)
  await sender.close()
  const timeouts = Array.from({ length: 10 }, () => 'timeout')
  expect(sender.outcomes).toEqual([...timeouts, 'skipped', 'timeout'])
})

test('receivers that timed out before leave slots for new receivers of the account', async () => {
  const ended = Promise.withResolvers<Outcome>()
  const known = new Set<string>()
  const delivered = Promise.withResolvers<void>()
  const sender = senderWith(async url => {
    const { host } = new URL(url)
    if (known.has(host)) return await ended.promise
    known.add(host)
    if (host.includes('dead')) return { kind: 'timeout' }
    delivered.resolve()
    return { kind: 'delivered', status: 200 }
  })
  for (let count = 0; count < 2 * limits.webhooksInFlightMax; count++)
    sender.send(`dead-${count % limits.webhooksInFlightMax}.example`)
  while (sender.outcomes.length < limits.webhooksInFlightMax) await Bun.sleep(2)
  sender.send('second-live.example')
  await delivered.promise
  ended.resolve({ kind: 'timeout' })
  await sender.close()
})

test('a receiver that answered before a restart does not wait for those that never answer', async () => {
  const before = openSender()
  before.send('back-live.example')
  before.send('gone.example')
  await before.delivered(1)
  await before.end()
  const sender = openSender()
  for (let count = 0; count < limits.webhooksInFlightMax; count++) sender.send(`away-${count}.example`)
  sender.send('back-live.example')
  sender.send('gone.example')
  expect(await sender.delivered(1)).toEqual(['back-live.example'])
  await sender.end()
})

test('the due events of many jobs are read in pages until the sender stops, and their queue needs no listeners', async () => {
  const { webhookJobsReadMax } = limits
  const count = 2 * webhookJobsReadMax + 1
  db.tx(() => {
    for (let index = 0; index < count; index++) {
      const own = { webhookUrl: 'https://live.example/hook' }
      failJob(db, createJob(db, ana!.accountId, plainJob(ana!.keyId, own)), { code: 'CANCELLED' })
    }
  })
  const reads = spyOn(db, 'list')
  const pages = () =>
    reads.mock.calls.flatMap(([, params], index) =>
      params && 'limit' in params ? [reads.mock.results[index]?.value as Job[]] : [],
    )
  const listeners = spyOn(EventTarget.prototype, 'addEventListener')
  const stopped = senderWith(async () => ({ kind: 'delivered', status: 200 }))
  stopped.resume()
  stopped.resume()
  await stopped.close()
  expect(pages().map(page => page.length)).toEqual([webhookJobsReadMax])
  const answered = Promise.withResolvers<Outcome>()
  const sender = senderWith(() => answered.promise)
  sender.resume()
  while (pages().length < 3) await Bun.sleep(2)
  answered.resolve({ kind: 'delivered', status: 200 })
  while (sender.outcomes.length < count - webhookJobsReadMax) await Bun.sleep(2)
  expect(pages().map(page => page.length)).toEqual([webhookJobsReadMax, webhookJobsReadMax, 1])
  expect(new Set(pages().flatMap(page => page.map(({ id }) => id))).size).toBe(count)
  expect(listeners.mock.calls).toEqual([])
  reads.mockRestore()
  listeners.mockRestore()
  await sender.close()
})

test('events whose delivery the server aborts because it stops, and events that wait, are still due', async () => {
  const called = Promise.withResolvers<void>()
  let attempts = 0
  const sender = senderWith((_url, _body, { signal }) => {
    attempts += 1
    called.resolve()
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  const ids = [sender.send('silent.example'), sender.send('silent.example')]
  await called.promise
  jest.useFakeTimers()
  const closed = sender.close()
  jest.advanceTimersByTime(limits.stopGraceMs)
  await closed
  expect(ids.map(id => listDueEvents(db, id).length)).toEqual([1, 1])
  expect(attempts).toBe(1)
})

// Tests that messages of workers cost the server and NATS little, in any number and of any size.

import { expect, spyOn, test } from 'bun:test'
import { StorageType } from '@nats-io/jetstream'
import { log } from '../../src/base/log.ts'
import { limits } from '../../src/limits.ts'
import type { HelloAnswer } from '../../src/workers/answers.ts'
import { bytesOf, type Hello, protocol, readRequest } from '../../src/workers/requests.ts'
import { Roster } from '../../src/workers/roster.ts'
import { streamOf } from '../../src/workers/subjects.ts'
import { openFleet } from '../support/bare-fleet.ts'
import { helloOf } from '../support/fleet.ts'
import { natsTest, sharedNats } from '../support/nats.ts'

const nats = sharedNats()

test('the server reads the largest real message hello, and no larger one', () => {
  // The largest real message has at most 64 jobs, because STENO_WORKERS is at most 64. It has at most 120 language
  // codes, because steno knows no more languages. The message of this test has even more codes.
  const jobs = Array.from({ length: 64 }, () => ({ job: crypto.randomUUID(), fence: 1_000_000 }))
  const languages = Array.from({ length: 1000 }, (_, index) => `lang-${index}`)
  const text = '語'.repeat(1000)
  // The name of the model is the name of a folder, so it has at most 255 bytes.
  const model = 'm'.repeat(255)
  const largest = { ...helloOf(languages), model, message: text, diarization: text, slots: 64, jobs }
  const isRead = (hello: Hello) => readRequest('hello', bytesOf(hello)) !== null
  expect(isRead(largest)).toBe(true)
  expect(isRead({ ...largest, languages: Array.from({ length: 5000 }, () => 'x'.repeat(10)) })).toBe(false)
})

test('the server refuses a new worker if the maximum number of workers with its name are present', () => {
  let now = 0
  const clocks = { uptime: () => now, wall: () => now }
  const roster = new Roster(60_000, clocks, [])
  const hello = (session: string, name = 'gpu-2') => roster.note(name, { ...helloOf(['en']), session })
  const present = Array.from({ length: limits.workersOfNameMax }, (_, index) => `${index}`)
  for (const session of present) hello(session)
  now += 60_000
  for (const session of present.slice(1)) expect(hello(session)?.before).not.toBeNull()
  expect(hello('late')).toBeNull()
  expect(hello('other', 'gpu-1')).not.toBeNull()
  // The first worker of `present` has now been silent for more than its lease of a minute, so it no longer counts, and
  // the server accepts the worker `late`.
  now += 1
  expect(hello('late')).toMatchObject({ before: null })
  expect(hello(present[0] ?? '')).toBeNull()
  expect(roster.all()).toHaveLength(limits.workersOfNameMax + 1)
  now += 60_001
  const silent = roster.dropSilent()
  expect([silent.length, roster.dropSilent()]).toEqual([limits.workersOfNameMax + 2, []])
})

test('a remembered worker is away until a ready worker has its abilities', () => {
  let now = 0
  const roster = new Roster(60_000, { uptime: () => now, wall: () => now }, [])
  for (const name of ['gpu-1', 'gpu-2']) roster.note(name, helloOf(['en']))
  now = 60_001
  expect(roster.away().map(({ name }) => name)).toEqual(['gpu-1', 'gpu-2'])
  roster.note('gpu-2', helloOf(['en']))
  expect(roster.away()).toEqual([])
  roster.note('gpu-2', helloOf(['de']))
  expect(roster.away().map(({ name }) => name)).toEqual(['gpu-1'])
})

test('the server remembers a worker for a day', () => {
  let now = 0
  const roster = new Roster(60_000, { uptime: () => now, wall: () => now }, [])
  roster.note('gpu-1', helloOf(['en']))
  now = limits.workerRememberedMs
  expect(roster.remembered()).toHaveLength(1)
  now += 1
  expect(roster.remembered()).toEqual([])
})

test('a worker that the server refuses because of its protocol gets no jobs, and no job waits for it', () => {
  const clocks = { uptime: () => 0, wall: () => 0 }
  const roster = new Roster(60_000, clocks, [])
  roster.note('gpu-1', { ...helloOf(['en']), protocol: protocol + 1 })
  expect([roster.all().length, roster.pools(), roster.remembered()]).toEqual([1, [], []])
})

natsTest('the stream takes a limited number of messages, and keeps them on the disk', async () => {
  const { manager } = await openFleet(nats.url, 'flood')
  const { config } = await manager.streams.info(streamOf('flood'))
  expect([config.max_msgs, config.storage]).toEqual([limits.workerStreamMessagesMax, StorageType.File])
})

natsTest('workers that are refused because of their name get the reason, and it is logged once', async () => {
  const { fleet, later, hello } = await openFleet(nats.url, 'crowd')
  const sayHello = async (session: number) =>
    (await hello(['en'], { session: `${session}` })).json<HelloAnswer>()
  using warn = spyOn(log, 'warn').mockImplementation(() => {})
  const max = limits.workersOfNameMax
  const fill = () => Promise.all(Array.from({ length: max }, (_, session) => sayHello(session)))
  await fill()
  const message = `100 workers with the name gpu-1 are present, and more are not possible: start this one with another --name`
  for (const session of [max, max + 1, max])
    expect(await sayHello(session)).toEqual({ kind: 'refused', message })
  expect((await sayHello(0)).kind).toBe('welcome')
  const refused: unknown = ['worker refused', { worker: 'gpu-1', reason: message }]
  expect<unknown>(warn.mock.calls).toEqual([refused])
  expect(fleet.workers()).toHaveLength(max)
  // After an hour without a message, the server removes all workers with the name gpu-1. The next refusal of a worker
  // with this name is then logged again.
  later(3_600_001)
  fleet.sweep()
  await fill()
  warn.mockClear()
  await sayHello(max)
  expect<unknown>(warn.mock.calls).toEqual([refused])
})

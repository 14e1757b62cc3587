// Tests that the messages `hello` of one name cost the server little, however many and however large they are.

import { expect, test } from 'bun:test'
import { limits } from '../../src/limits.ts'
import { bytesOf, type Hello, readRequest } from '../../src/workers/requests.ts'
import { Roster } from '../../src/workers/roster.ts'
import { helloOf } from '../support/fleet.ts'

test('the server reads the largest real message hello, and no larger one', () => {
  // STENO_WORKERS allows 64 places. The largest model knows 117 languages.
  const jobs = Array.from({ length: 64 }, () => ({ job: crypto.randomUUID(), fence: 1_000_000 }))
  const languages = Array.from({ length: 1000 }, (_, index) => `lang-${index}`)
  const text = '語'.repeat(1000)
  const largest = { ...helloOf(languages), message: text, diarization: text, slots: 64, jobs }
  const isRead = (hello: Hello) => readRequest('hello', bytesOf(hello)) !== null
  expect(isRead(largest)).toBe(true)
  expect(isRead({ ...largest, languages: Array.from({ length: 5000 }, () => 'x'.repeat(10)) })).toBe(false)
})

test('of the workers with one name, the server keeps the ones that it heard last', () => {
  let now = 0
  const clocks = { uptime: () => now, wall: () => now }
  const roster = new Roster(60_000, clocks, [])
  const hello = (session: string, name = 'gpu-2') => {
    now += 1
    roster.note(name, { ...helloOf(['en']), session })
  }
  hello('other', 'gpu-1')
  hello('first')
  for (let count = 1; count < limits.workersOfNameMax; count++) hello(`${count}`)
  hello('first')
  hello('late')
  expect(roster.find('gpu-1/other')).not.toBeNull()
  expect(roster.all()).toHaveLength(limits.workersOfNameMax + 1)
  for (const session of ['first', 'late', '2']) expect(roster.find(`gpu-2/${session}`)).not.toBeNull()
  expect(roster.find('gpu-2/1')).toBeNull()
})

// Tests the list of workers that the server stores for operators.

import { expect, test } from 'bun:test'
import { openDb } from '../../src/db/open-db.ts'
import { limits } from '../../src/limits.ts'
import { awayOf, listedOf, readList, readRemembered, saveList } from '../../src/workers/listing.ts'
import { protocol } from '../../src/workers/requests.ts'
import { Roster } from '../../src/workers/roster.ts'
import { helloOf } from '../support/fleet.ts'
import { temporaryFolder } from '../support/folder.ts'

const roster = new Roster(60_000, { uptime: () => 0, wall: () => 1000 }, [])

function note(name: string, change: object) {
  const noted = roster.note(name, { ...helloOf(['en']), ...change })
  if (!noted) throw new Error('the roster refuses the worker')
  return noted.worker
}

test('the list shows what a worker says, and why the server refuses it', () => {
  const jobs = [{ job: 'job', fence: 1 }]
  const common = { version: '1', device: 'none', model: 'steered', slots: 1 }
  const last_heartbeat = '1970-01-01T00:00:01.000Z'
  expect(listedOf(note('gpu-1', { jobs, speed: 12.345 }))).toEqual({
    ...common,
    name: 'gpu-1',
    ready: true,
    message: 'ready',
    jobs: 1,
    speed: 12.3,
    last_heartbeat,
  })
  const refused = note('gpu-2', { protocol: protocol + 1 })
  expect(listedOf(refused)).toEqual({
    ...common,
    name: 'gpu-2',
    ready: false,
    message: refused.refusal ?? '',
    jobs: 0,
    speed: null,
    last_heartbeat,
  })
})

test('the list says until when jobs wait for a worker that is away', () => {
  const until = new Date(1000 + limits.workerRememberedMs).toISOString()
  const message = `It is away. Jobs that only this worker can do wait for it until ${until}.`
  expect(awayOf(note('gpu-3', {}), 2)).toMatchObject({ ready: false, jobs: 2, message })
})

test('the database has the workers and the remembered workers of the last write', () => {
  const db = openDb(temporaryFolder())
  expect([readList(db), readRemembered(db)]).toEqual([null, []])
  const [first, second] = [note('gpu-1', {}), note('gpu-2', {})]
  saveList(db, [listedOf(first)], [first])
  db.run('update fleet set written_at = 0')
  saveList(db, [listedOf(second)], [second])
  expect(readList(db)?.workers).toEqual([listedOf(second)])
  expect(readList(db)?.writtenAt).toBeGreaterThan(0)
  expect(readRemembered(db)).toEqual([second])
  db.close()
})

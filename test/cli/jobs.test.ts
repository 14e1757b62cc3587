// Tests the commands on jobs, with jobs that are written into the database without a server.

import { beforeAll, expect, test } from 'bun:test'
import { openSecrets } from '../../src/base/seal.ts'
import type { Db } from '../../src/db/db.ts'
import { createJob } from '../../src/jobs/create.ts'
import { deleteJob } from '../../src/jobs/delete.ts'
import { failJob } from '../../src/jobs/end.ts'
import { moveJob } from '../../src/jobs/moves.ts'
import { makeAccount, type TestAccount } from '../support/account.ts'
import { findCommand, makeService } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { plainJob } from '../support/plain-job.ts'

const dataDir = temporaryFolder()
let [waiting, running, failed, deleted] = ['', '', '', '']

beforeAll(() => {
  makeService(dataDir)
  const db = openTestDb(dataDir)
  const secrets = openSecrets(dataDir)
  const ana = makeAccount(db, secrets, 'ana@example.org', 1000)
  const ben = makeAccount(db, secrets, 'ben@example.org', 1000)
  waiting = addJob(db, ana)
  running = addJob(db, ana)
  moveJob(db, running, 'processing')
  db.run(`update jobs set duration_ms = 11700, progress = 'half of it' where id = $id`, { id: running })
  failed = addJob(db, ben)
  deleted = addJob(db, ben)
  for (const id of [failed, deleted]) failJob(db, id, { code: 'DOWNLOAD_FAILED' })
  deleteJob(db, ben.accountId, deleted)
  db.close()
})

function addJob(db: Db, { accountId, keyId }: TestAccount): string {
  return createJob(db, accountId, plainJob(keyId))
}

const run = (...args: string[]) => findCommand(dataDir, 'jobs', ...args)

test('the jobs of all accounts are listed, the newest first, without deleted ones', async () => {
  const { out } = await run('list')
  const time = String.raw`\d{4}-\S+Z`
  expect(out).toMatch(
    new RegExp(
      [
        `^${failed}  ${time}  failed      -         ben@example.org  DOWNLOAD_FAILED`,
        `${running}  ${time}  processing  11.7 s    ana@example.org  half of it`,
        `${waiting}  ${time}  created     -         ana@example.org\n$`,
      ].join('\n'),
    ),
  )
  const idsOf = async (...options: string[]) =>
    (await run('list', '--json', ...options)).json().map(({ id }: { id: string }) => id)
  expect(await idsOf()).toEqual([failed, running, waiting])
  expect(await idsOf('--account', 'ana@EXAMPLE.org')).toEqual([running, waiting])
  expect(await idsOf('--state', 'processing')).toEqual([running])
  expect(await idsOf('--limit', '1')).toEqual([failed])
  expect((await run('list', '--limit', '0')).code).toBe(2)
})

test('a job is shown with its length in seconds and its times, and a deleted one is not', async () => {
  expect((await run('show', running, '--json')).json()).toEqual({
    id: running,
    account: 'ana@example.org',
    state: 'processing',
    progress: 'half of it',
    duration_seconds: 11.7,
    cost_cents: null,
    error_code: null,
    error_message: null,
    created_at: expect.stringMatching(/Z$/),
    started_at: expect.stringMatching(/Z$/),
    completed_at: null,
  })
  expect((await run('show', failed)).out).toContain('\nerror_code: DOWNLOAD_FAILED\n')
  for (const command of ['show', 'cancel'])
    expect(await run(command, deleted)).toMatchObject({ code: 1, err: `steno: there is no job ${deleted}\n` })
})

test('a job is cancelled, and once more with the same answer; one that failed by itself is not', async () => {
  for (const _ of ['first', 'second'])
    expect((await run('cancel', waiting, '--json')).json()).toEqual({
      id: waiting,
      cancelled: true,
      released_cents: 0,
    })
  expect((await run('show', waiting, '--json')).json()).toMatchObject({
    state: 'failed',
    error_code: 'CANCELLED',
  })
  const refused = await run('cancel', failed)
  expect([refused.code, refused.out]).toEqual([1, ''])
})

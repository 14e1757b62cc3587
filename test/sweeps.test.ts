import { afterEach, expect, spyOn, test } from 'bun:test'
import { createAccount } from '../src/accounts/account.ts'
import { log } from '../src/base/log.ts'
import { nextTurn } from '../src/base/next-turn.ts'
import { readConfig } from '../src/config.ts'
import { limits } from '../src/limits.ts'
import { type Running, startService } from '../src/service.ts'
import { steeredEngine } from './support/engine.ts'
import { temporaryFolder } from './support/folder.ts'
import { placeDatabase } from './support/new-database.ts'

let running: Running | null = null

afterEach(() => running?.close())

async function start(sweepEvery: string): Promise<Running> {
  const dataDir = temporaryFolder()
  placeDatabase(dataDir)
  const config = readConfig({
    STENO_PORT: '0',
    STENO_DATA_DIR: dataDir,
    STENO_TRANSCRIPT_RETENTION: '30d',
    STENO_SWEEP_EVERY: sweepEvery,
  })
  running = await startService(config, { engine: steeredEngine() })
  return running
}

test('a sweep runs every STENO_SWEEP_EVERY, also when that is less than a second', async () => {
  const { service } = await start('5ms')
  let runs = 0
  await new Promise<void>(resolve => {
    service.runner.failStuckJobs = () => {
      runs += 1
      if (runs === 3) resolve()
    }
  })
})

test('an interval above the maximum of a timer is lowered to the maximum', async () => {
  const timers = spyOn(globalThis, 'setInterval')
  await start('60d')
  expect(timers.mock.calls.map(([, everyMs]) => everyMs)).toContain(2 ** 31 - 1)
  timers.mockRestore()
})

test('the list of workers is written at both of the short intervals, because STENO_SWEEP_EVERY may be long', async () => {
  const { service, sweeper } = await start('1d')
  let writes = 0
  Object.assign(service, { fleet: { save: () => (writes += 1) } })
  sweeper.run()
  Object.assign(service, { fleet: null })
  expect(writes).toBe(2)
})

test('a sweep that fails does not stop the other sweeps', async () => {
  const { service, sweeper } = await start('1d')
  let pumped = false
  service.runner.failStuckJobs = () => {
    throw new Error('broken')
  }
  service.runner.pump = () => {
    pumped = true
  }
  sweeper.run()
  expect(pumped).toBe(true)
})

test('an error of a sweep is logged once while it repeats, and again after a success', async () => {
  const { service, sweeper } = await start('1d')
  using logged = spyOn(log, 'error').mockImplementation(() => {})
  let broken = true
  service.runner.failStuckJobs = () => {
    if (broken) throw new Error('disk full')
  }
  sweeper.run()
  sweeper.run()
  expect(logged).toHaveBeenCalledTimes(1)

  broken = false
  sweeper.run()
  broken = true
  sweeper.run()
  expect(logged).toHaveBeenCalledTimes(2)
})

test('the rows that an hourly sweep deletes are deleted in parts, in several turns of the event loop', async () => {
  const { service, sweeper } = await start('1d')
  const { db } = service
  const { id: accountId } = createAccount(db, {
    email: 'ana@example.org',
    passwordHash: null,
    verified: true,
  })!
  const rows = 2 * limits.purgedRowsMax + 1
  const many = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${rows})`
  db.run(
    `insert into sessions (token_hash, account_id, created_at, last_used_at, expires_at)
     ${many} select n, $accountId, 0, 0, 0 from numbers`,
    { accountId },
  )
  db.run(
    `insert into clients (id, name, redirect_uris, created_at, used_at)
     ${many} select n, '', '[]', 0, 0 from numbers`,
  )
  db.run(
    `insert into voices (id, account_id, name, model, sealed_print, seconds, created_at, used_at)
     ${many} select n, $accountId, n, '', '', 1, 0, 0 from numbers`,
    { accountId },
  )
  db.run(
    `insert into verifications (token_hash, account_id, password_hash, expires_at)
     ${many} select n, $accountId, '', 0 from numbers`,
    { accountId },
  )
  const grantOf = `insert into grants (id, account_id, client_id, scope, resources, created_at, last_used_at,
       code_hash, code_challenge, code_redirect_uri, code_expires_at, code_used_at)
     ${many}`
  db.run(`${grantOf} select n, $accountId, 1, '', '', 0, 0, n, '', '', 0, nullif(n % 2, 0) from numbers`, {
    accountId,
  })
  const left = () =>
    ['sessions', 'clients', 'voices', 'verifications', 'grants'].map(
      table => db.find<{ count: number }>(`select count(*) as count from ${table}`)?.count,
    )
  sweeper.run()
  expect(left()).toEqual([1001, 1001, 1001, 1001, 1])
  await nextTurn()
  expect(left()).toEqual([1, 1, 1, 1, 0])
  await nextTurn()
  expect(left()).toEqual([0, 0, 0, 0, 0])
})

// Tests the commands on accounts and keys, with accounts that are written into the database without a server.

import { beforeEach, expect, test } from 'bun:test'
import { createAccount } from '../../src/accounts/account.ts'
import { createSession, useSession } from '../../src/accounts/session.ts'
import { setOperator } from '../../src/accounts/settings.ts'
import { findCommand, makeService } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { hashAtLowCost } from '../support/password.ts'

hashAtLowCost()

let dataDir: string
const run = (...args: string[]) => findCommand(dataDir, ...args)

beforeEach(() => {
  dataDir = makeService(temporaryFolder())
})

test('an account is found by its address in other letters of the host, and its line shows its state', async () => {
  const db = openTestDb(dataDir)
  const made = createAccount(db, { email: 'ana@example.org', passwordHash: null, verified: false })!
  setOperator(db, made.id, true)
  db.close()
  const listed = `${made.id}  ana@example.org  unverified  $0.00  operator\n`
  expect((await run('accounts', 'list')).out).toBe(listed)
  expect((await run('accounts', 'show', 'ana@EXAMPLE.org', '--json')).json().account_id).toBe(made.id)
  expect(await run('keys', 'create', 'ana@example.org')).toMatchObject({
    code: 1,
    out: '',
    err: 'steno: ana@example.org is not verified yet\n',
  })
})

test('a new password ends the sessions of its account, and no other ones', async () => {
  await run('accounts', 'create', 'ana@example.org')
  await run('accounts', 'create', 'ben@example.org')
  const idOf = async (email: string) => (await run('accounts', 'show', email, '--json')).json().account_id
  const [ana, ben] = [await idOf('ana@example.org'), await idOf('ben@example.org')]
  const db = openTestDb(dataDir)
  const [hers, his] = [ana, ben].map(accountId => createSession(db, { accountId, keyId: null }))
  expect((await run('accounts', 'password', 'ana@example.org')).out).toMatch(/^\S{20}\n$/)
  expect([useSession(db, hers!), useSession(db, his!)]).toEqual([null, expect.anything()])
  db.close()
})

import { expect, test } from 'bun:test'
import { openSecrets } from '../../src/base/seal.ts'
import { createJob } from '../../src/jobs/create.ts'
import { listUse } from '../../src/jobs/usage.ts'
import { limits } from '../../src/limits.ts'
import { makeAccount, type TestAccount } from '../support/account.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { plainJob } from '../support/plain-job.ts'

test('the jobs of the last 30 days are summed up over several turns of the event loop', async () => {
  const folder = temporaryFolder()
  let now = Date.now()
  const db = openTestDb(folder, { clock: () => now })
  const secrets = openSecrets(folder)
  const ana = makeAccount(db, secrets, 'ana@example.org', 0)
  const ben = makeAccount(db, secrets, 'ben@example.org', 0)
  const add = ({ accountId, keyId }: TestAccount) => createJob(db, accountId, plainJob(keyId))
  add(ben)
  now += limits.shownAccountsMs
  add(ben)
  db.tx(() => {
    for (let jobs = 0; jobs < limits.summedJobsPerTurn; jobs += 1) add(ana)
  })
  expect(await listUse(db)).toMatchObject([
    { email: 'ana@example.org', jobs: limits.summedJobsPerTurn, audioMs: 0, lastJobAt: now },
    { email: 'ben@example.org', jobs: 1, lastJobAt: now },
  ])
  db.close()
})

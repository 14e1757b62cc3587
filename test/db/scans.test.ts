// Tests that the SQL statements of requests and of sweeps (periodic tasks) find their rows by an index. A statement
// that reads all rows would block a server with many jobs.

import { expect, spyOn, test } from 'bun:test'
import { setOperator } from '../../src/accounts/settings.ts'
import type { Db, Params } from '../../src/db/db.ts'
import { removeLeftovers } from '../../src/jobs/leftovers.ts'
import { speech } from '../support/media.ts'
import { startTestService, steered } from '../support/service.ts'
import { enter } from '../support/signed-in.ts'

steered(
  'no statement of a request, a sweep or the removal of leftovers reads all jobs, uploads or ledger entries',
  async () => {
    const service = await startTestService({ settings: { STENO_TRANSCRIPT_RETENTION: '30d' } })
    const ana = service.account('ana')
    setOperator(service.db, ana.id, true)
    const statements = record(service.db)
    const id = await ana.transcribe()
    service.engine.finish(await service.engine.given(1))
    await ana.until(id, 'completed')
    const cancelled = await ana.transcribe(speech(60))
    await ana.post(`/v1/transcribe/${cancelled}/cancel`)
    const page = await enter(service, { key: ana.key })
    for (const path of ['/app/operator', '/app/statement', '/v1/transcriptions', '/v1/webhooks/deliveries'])
      expect([path, (await page('GET', path)).status]).toEqual([path, 200])
    await ana.delete(`/v1/transcribe/${id}`)
    service.later(0)
    removeLeftovers(service.db, service.dataDir)
    expect(statements.size).toBeGreaterThan(30)
    const scans = [...statements].flatMap(([statement, params]) => scansOf(service.db, statement, params))
    expect(scans).toEqual([])
  },
)

test('an index finds the rows that refer to a row that is deleted', async () => {
  const { db } = await startTestService()
  const references = db.list<{ child: string; column: string; parent: string }>(
    `select tables.name as child, keys."from" as "column", keys."table" as parent
     from sqlite_schema as tables join pragma_foreign_key_list(tables.name) as keys where tables.type = 'table'`,
  )
  expect(references).toContainEqual({ child: 'jobs', column: 'key_id', parent: 'keys' })
  const scans = references.flatMap(({ child, column }) =>
    db
      .list<{ detail: string }>(`explain query plan select 1 from ${child} where ${column} = $id`, { id: '' })
      .filter(({ detail }) => !detail.startsWith('SEARCH'))
      .map(({ detail }) => `${child}.${column}: ${detail}`),
  )
  expect(scans).toEqual([])
})

/**
 * Matches the steps of a query plan that are allowed to read a whole index. These indexes have few rows, except one:
 * `jobs_media_of_account` has a row for each job whose media is kept. Only the operator's page reads this whole index,
 * because it shows the total size of all media.
 */
const fewRows = / INDEX (jobs_unfinished|jobs_media_of_account|uploads_with_bytes|uploads_for_voices)$/

/** Records the SQL statements from now on, each with its last parameters. */
function record(db: Db): Map<string, Params> {
  const statements = new Map<string, Params>()
  for (const method of ['find', 'list', 'run'] as const) {
    const own = db[method].bind(db) as (statement: string, params?: Params) => never
    spyOn(db, method).mockImplementation((statement: string, params: Params = {}) => {
      statements.set(statement, params)
      return own(statement, params)
    })
  }
  return statements
}

/**
 * Returns the steps of the query plan of `statement` that read too many rows (see `readsAll`). Each is returned as a
 * text for the test report. Steps that `fewRows` matches are left out, because they are allowed.
 */
function scansOf(db: Db, statement: string, params: Params): string[] {
  return db
    .list<{ detail: string }>(`explain query plan ${statement}`, params)
    .filter(({ detail }) => readsAll(statement, detail) && !fewRows.test(detail))
    .map(({ detail }) => `${detail}: ${statement}`)
}

/**
 * Returns true if the step `detail` of a query plan reads all rows of the table `jobs`, `ledger`, `uploads` or
 * `verifications`, or the whole index of ended jobs or of jobs with media.
 */
function readsAll(statement: string, detail: string): boolean {
  // For both indexes, SQLite writes `completed_at>?` even if the statement has no lower bound of `completed_at`. So the
  // code looks for this bound in the statement.
  const allEnded =
    / INDEX (jobs_ended|jobs_with_media) \(completed_at>\?\)$/.test(detail) &&
    !/completed_at >/.test(statement)
  return allEnded || /^SCAN (jobs|ledger|uploads|verifications)\b/.test(detail)
}

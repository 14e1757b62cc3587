import { expect, test } from 'bun:test'
import { openSecrets } from '../../src/base/seal.ts'
import type { Db } from '../../src/db/db.ts'
import { deleteJob } from '../../src/jobs/delete.ts'
import { type SearchOrder, searchUtterances } from '../../src/jobs/search.ts'
import type { SearchPlace } from '../../src/jobs/search-pages.ts'
import { limits } from '../../src/limits.ts'
import { joinPart } from '../../src/transcripts/search-parts.ts'
import { makeAccount } from '../support/account.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { seeded } from '../support/random.ts'
import { addTranscript, completeIndex } from '../support/transcripts.ts'

type Owner = { id: string; keyId: string }
type Part = { id: number; first: number; last: number; size: number }

function open() {
  const folder = temporaryFolder()
  const db = openTestDb(folder)
  const { accountId, keyId } = makeAccount(db, openSecrets(folder), 'ana@example.org', 0)
  return { db, ana: { id: accountId, keyId } }
}

/** Returns the parts of an account's search index, oldest first. */
function partsOf(db: Db, { id }: Owner): Part[] {
  return db.list<Part>(
    `select id, first_seq as first, last_seq as last, utterances as size from search_parts
     where account_id = $id order by first_seq`,
    { id },
  )
}

/** Fills the newest part of the search index, so that the next transcript starts another part. */
function fillPart(db: Db): void {
  db.run(
    `update search_parts set utterances = utterances + $full where id = (select max(id) from search_parts)`,
    { full: limits.searchPartUtterances },
  )
}

/** Adds jobs without transcripts. Returns their ids. */
function addJobs(db: Db, { id: accountId, keyId }: Owner, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const id = `job-${index}`
    db.run(
      `insert into jobs (id, account_id, key_id, state, state_at, source_url, diarize, align, created_at)
       values ($id, $accountId, $keyId, 'processing', 0, 'https://media.example/a.mp3', 0, 1, 0)`,
      { id, accountId, keyId },
    )
    return id
  })
}

/** Returns the job id of each hit, from all pages of a search. */
function allHits(db: Db, { id }: Owner, query: string, order: SearchOrder): string[] {
  const found: string[] = []
  for (let after: SearchPlace | null = null; ; ) {
    const { hits, next } = searchUtterances(db, id, { query, order, limit: 2, after })
    found.push(...hits.map(({ jobId }) => jobId))
    if (!next) return found
    after = next
  }
}

test('a search reads the parts of an account from the newest to the oldest, page by page', () => {
  const { db, ana } = open()
  const ids = Array.from({ length: 9 }, (_, index) => {
    if (index % 3 === 0 && index > 0) fillPart(db)
    return addTranscript(db, ana, [`Budget number${index}.`])
  })
  completeIndex(db)
  expect(partsOf(db, ana)).toHaveLength(3)
  expect(allHits(db, ana, 'budget', 'newest')).toEqual(ids.toReversed())
  expect(allHits(db, ana, 'budget', 'best')).toEqual(ids.toReversed())
  expect(allHits(db, ana, '"budget number4"', 'newest')).toEqual([ids[4]!])
  expect(allHits(db, ana, '1xbudget', 'newest')).toEqual([])
})

test('the ranges of two parts never overlap, in whatever order the jobs complete', () => {
  const { db, ana } = open()
  const jobs = addJobs(db, ana, 40)
  const random = seeded(4)
  while (jobs.length > 0) {
    // The jobs complete in a random order, because in a service, a job may complete before an earlier job.
    const [job = ''] = jobs.splice(random.below(Math.min(jobs.length, 6)), 1)
    joinPart(db, job, limits.searchPartUtterances / 4)
  }
  const parts = partsOf(db, ana)
  expect(parts.length).toBeGreaterThan(4)
  for (const [index, part] of parts.slice(1).entries()) expect(part.first).toBeGreaterThan(parts[index]!.last)
  expect(parts.reduce((sum, { size }) => sum + size, 0)).toBe(10 * limits.searchPartUtterances)
})

test('a part is deleted with its last transcript, and its number is not used again', () => {
  const { db, ana } = open()
  const ids = [addTranscript(db, ana, ['One.', 'Two.']), addTranscript(db, ana, ['Three.'])]
  completeIndex(db)
  const [part] = partsOf(db, ana)
  expect(part?.size).toBe(3)
  deleteJob(db, ana.id, ids[0]!)
  expect(partsOf(db, ana)[0]?.size).toBe(1)
  deleteJob(db, ana.id, ids[1]!)
  expect(partsOf(db, ana)).toEqual([])
  addTranscript(db, ana, ['Four.'])
  expect(partsOf(db, ana)[0]?.id).toBeGreaterThan(part?.id ?? 0)
})

// Reads one page of hits from the search index of an account.

import type { Db } from '../db/db.ts'
import { partsUpTo, wordInPart } from '../transcripts/search-parts.ts'
import type { Phrase } from '../transcripts/search-words.ts'
import { placeOfUtterance, utterancesMax } from '../transcripts/utterance-id.ts'
import type { HitRow } from './search-hits.ts'

/**
 * The place at which the next page of hits starts. In the order `newest`, it is the row id of the last hit of the
 * previous page. In the order `best`, it has three numbers: an upper bound of the row ids, and the score and the row id
 * of the last hit. The utterances of a job that is created later have higher row ids, so they do not appear on the next
 * pages.
 */
export type SearchPlace = readonly number[]

/** The input of `newestPage` and `bestPage`. */
export type Query = {
  accountId: string
  phrases: readonly Phrase[]
  limit: number
  after: SearchPlace | null
}

/**
 * The hits of one page. Each row is one hit. `place` is the start of the next page if the caller ends this page after
 * this row. A page may end early, because its size in bytes is limited.
 */
export type Page = { rows: { row: HitRow; place: SearchPlace }[]; hasMore: boolean }

export const hitColumns = `jobs.id as jobId, jobs.created_at as createdAt, jobs.source_url as sourceUrl,
  uploads.filename, utterances.body, utterances.id as rowId`

/**
 * Joins utterances with their jobs, except deleted jobs. `cross join` makes SQLite read the utterances first, and then
 * only their jobs.
 */
export const jobsOfUtterances = `cross join jobs on jobs.seq = utterances.id / ${utterancesMax} and jobs.deleted_at is null
  left join uploads on uploads.id = jobs.upload_id`

const found = `from search cross join utterances on utterances.id = search.rowid ${jobsOfUtterances}
  where search match $match and search.rowid < $top order by search.rowid desc limit $limit`

export const newestTop = Number.MAX_SAFE_INTEGER

/**
 * Returns at most `limit` utterances that contain all phrases and have a row id below `top`, newest first. The search
 * index of an account is read part by part, the newest first.
 */
export function findRows<Row>(
  db: Db,
  columns: string,
  { accountId, phrases }: Query,
  { top, limit }: { top: number; limit: number },
): Row[] {
  const rows: Row[] = []
  for (const part of partsUpTo(db, accountId, placeOfUtterance(top).seq)) {
    const match = matchIn(part, phrases)
    rows.push(...db.list<Row>(`select ${columns} ${found}`, { match, top, limit: limit - rows.length }))
    if (rows.length === limit) break
  }
  return rows
}

/** Returns a query of FTS5, SQLite's full-text search, for the phrases in one part of the search index. */
function matchIn(part: number, phrases: readonly Phrase[]): string {
  return phrases.map(phrase => `"${phrase.map(word => wordInPart(part, word)).join(' ')}"`).join(' ')
}

export function newestPage(db: Db, query: Query): Page {
  const { limit, after } = query
  const [top = newestTop] = after ?? []
  // One row more than `limit` is read. If this row exists, there is a next page.
  const rows = findRows<HitRow>(db, hitColumns, query, { top, limit: limit + 1 })
  return {
    rows: rows.slice(0, limit).map(row => ({ row, place: [row.rowId] })),
    hasMore: rows.length > limit,
  }
}

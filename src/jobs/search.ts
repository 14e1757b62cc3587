// Searches in the utterances of all transcripts of an account.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { partsUpTo, wordInPart } from '../transcripts/search-parts.ts'
import {
  countPhrases,
  findPhrases,
  type Phrase,
  phrasesOf,
  type Stretch,
} from '../transcripts/search-words.ts'
import { placeOfUtterance, utterancesMax } from '../transcripts/store.ts'
import type { Utterance } from '../transcripts/transcript.ts'

/**
 * A part of an utterance's text that matches the query. `start` and `end` are the times of this part in the recording,
 * in seconds.
 */
export type Match = Stretch & { start: number; end: number }

/** An utterance that contains all phrases of a search query. */
export type Hit = {
  jobId: string
  /** The name of the uploaded media file. Null if the source of the job is an address. */
  filename: string | null
  sourceUrl: string | null
  createdAt: number
  /** The index of the utterance in its transcript. */
  index: number
  utterance: Utterance
  matches: Match[]
}

export type SearchOrder = 'newest' | 'best'

/**
 * The place at which the next page of hits starts. In the order `newest`, the next page contains utterances whose row
 * id is below `top`, and `skip` is 0. In the order `best`, the next page leaves out the first `skip` hits. All pages
 * then have the same `top`: utterances that are added later have row ids above `top`, so they do not move the hits.
 */
export type SearchPlace = { top: number; skip: number }

export type SearchPage = { hits: Hit[]; next: SearchPlace | null }

type HitRow = Pick<Hit, 'jobId' | 'filename' | 'sourceUrl' | 'createdAt'> & { rowId: number; body: string }

/** The input of the functions `newest` and `best`. */
type Query = { accountId: string; phrases: readonly Phrase[]; limit: number; after: SearchPlace | null }

/**
 * Returns one page of the account's utterances that contain all phrases of `query`. Returns no hits if `query` has no
 * words, or more than `searchWordsMax` words.
 */
export function searchUtterances(
  db: Db,
  accountId: string,
  {
    query,
    order = 'newest',
    limit = limits.searchPageSizeDefault,
    after = null,
  }: { query: string; order?: SearchOrder; limit?: number; after?: SearchPlace | null },
): SearchPage {
  const phrases = phrasesOf(query)
  const words = phrases.reduce((sum, phrase) => sum + phrase.length, 0)
  if (words === 0 || words > limits.searchWordsMax) return { hits: [], next: null }
  const { rows, next } = (order === 'best' ? best : newest)(db, { accountId, phrases, limit, after })
  return { hits: rows.map(row => hitOf(row, phrases)), next }
}

type Page = { rows: HitRow[]; next: SearchPlace | null }

const details = `jobs.id as jobId, jobs.created_at as createdAt, jobs.source_url as sourceUrl,
  uploads.filename, utterances.body, utterances.id as rowId`

/**
 * The part of an SQL query that joins utterances with their jobs. `cross join` fixes the order in which SQLite reads
 * the tables: first the utterances, and then only the jobs of these utterances.
 */
const jobsOfUtterances = `cross join jobs on jobs.seq = utterances.id / ${utterancesMax} and jobs.deleted_at is null
  left join uploads on uploads.id = jobs.upload_id`

const found = `from search cross join utterances on utterances.id = search.rowid ${jobsOfUtterances}
  where search match $match and search.rowid < $top order by search.rowid desc limit $limit`

const newestTop = Number.MAX_SAFE_INTEGER

/**
 * Returns at most `limit` utterances that contain all phrases and have a row id below `top`, newest first. The search
 * index of an account has several parts. These parts are read from the newest to the oldest, until `limit` utterances
 * are found.
 */
function findRows<Row>(
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

function newest(db: Db, query: Query): Page {
  const { limit, after } = query
  const top = after?.top ?? newestTop
  // One row more than `limit` is read. If this row exists, there is a next page.
  const rows = findRows<HitRow>(db, details, query, { top, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { rows: shown, next: last ? { top: last.rowId, skip: 0 } : null }
}

/**
 * Ranks the newest `searchRankedMax` hits by their scores, and returns one page of them, best hits first. The ranking
 * of FTS5 itself is not used: for each word, FTS5 counts all utterances of the account, which takes 0.2 s for 30
 * million words.
 */
function best(db: Db, query: Query): Page {
  const { phrases, limit, after } = query
  const { top, skip } = after ?? { top: newestTop, skip: 0 }
  const candidates = findRows<{ rowId: number; text: string }>(
    db,
    "search.rowid as rowId, utterances.body ->> '$.text' as text",
    query,
    { top, limit: limits.searchRankedMax },
  )
  const ranked = candidates
    .map(({ rowId, text }) => ({ rowId, score: scoreOf(text, phrases) }))
    .toSorted((one, other) => other.score - one.score || other.rowId - one.rowId)
  const shown = ranked.slice(skip, skip + limit)
  const rows = shown.flatMap(({ rowId }) =>
    db.list<HitRow>(`select ${details} from utterances ${jobsOfUtterances} where utterances.id = $rowId`, {
      rowId,
    }),
  )
  // Utterances that are added later have higher row ids. The next pages contain only row ids below `fixedTop`, so that
  // all pages rank the same utterances.
  const fixedTop = Math.min(top, (candidates[0]?.rowId ?? 0) + 1)
  const isLast = skip + limit >= ranked.length
  return { rows, next: isLast ? null : { top: fixedTop, skip: skip + limit } }
}

/**
 * The constants k1 and b of the ranking function BM25, and a typical length of an utterance, in characters, which is
 * used in place of the average length.
 */
const [saturation, lengthWeight, usualLength] = [1.2, 0.75, 80]

/** Returns the BM25 score of an utterance. All phrases have equal weight. */
function scoreOf(text: string, phrases: readonly Phrase[]): number {
  const counts = countPhrases(text, phrases)
  const norm = saturation * (1 - lengthWeight + (lengthWeight * text.length) / usualLength)
  return counts.reduce((sum, count) => sum + (count * (saturation + 1)) / (count + norm), 0)
}

function hitOf({ rowId, body, ...row }: HitRow, phrases: readonly Phrase[]): Hit {
  const utterance = JSON.parse(body) as Utterance
  return {
    ...row,
    index: placeOfUtterance(rowId).index,
    utterance,
    matches: matchesIn(utterance, phrases),
  }
}

/** Returns the parts of an utterance that match the phrases, each part with the start and the end of its words. */
function matchesIn({ text, start, end, words }: Utterance, phrases: readonly Phrase[]): Match[] {
  const spoken = placeWords(text, words)
  return findPhrases(text, phrases).map(({ from, to }) => {
    const touched = spoken.filter(word => word.from < to && word.to > from)
    return { from, to, start: touched[0]?.start ?? start, end: touched.at(-1)?.end ?? end }
  })
}

/**
 * Returns the position of each word in the text of the utterance. A word that the text does not contain is left out.
 */
function placeWords(text: string, words: Utterance['words']): Match[] {
  let cursor = 0
  return words.flatMap(({ word, start, end }) => {
    const from = text.indexOf(word, cursor)
    if (from < 0) return []
    cursor = from + word.length
    return [{ from, to: cursor, start, end }]
  })
}

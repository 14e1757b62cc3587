// Searches the utterances of all transcripts of an account.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { accountWord } from '../transcripts/search-index.ts'
import { findPhrases, type Phrase, phrasesOf, type Stretch } from '../transcripts/search-words.ts'
import { placeOfUtterance, utterancesMax } from '../transcripts/store.ts'
import type { Utterance } from '../transcripts/transcript.ts'

/** A stretch of the text of an utterance that the query found. Its times are in seconds. */
export type Match = Stretch & { start: number; end: number }

/** An utterance that contains all phrases of a query. */
export type Hit = {
  jobId: string
  /** The name of the uploaded file. Null for a job that was given an address. */
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
 * The place of the next page. Only row ids below `top` are searched. `skip` is the number of hits on the
 * previous pages; it is used only by the order `best`.
 */
export type SearchPlace = { top: number; skip: number }

export type SearchPage = { hits: Hit[]; next: SearchPlace | null }

type HitRow = Pick<Hit, 'jobId' | 'filename' | 'sourceUrl' | 'createdAt'> & { rowId: number; body: string }

/** Returns one page of the utterances that contain all phrases of `query`. */
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
  const quoted = phrases.map(phrase => `"${phrase.join(' ')}"`).join(' ')
  const rows = db.list<HitRow>(statements[order], {
    match: `account : "${accountWord(accountId)}" AND text : (${quoted})`,
    top: after?.top ?? Number.MAX_SAFE_INTEGER,
    // One hit more than the page holds shows that there is a next page.
    limit: limit + 1,
    ...(order === 'best' ? { skip: after?.skip ?? 0, ranked: limits.searchRankedMax } : {}),
  })
  const shown = rows.slice(0, limit)
  const isLast = rows.length <= limit
  return {
    hits: shown.map(row => hitOf(row, phrases)),
    next: isLast ? null : nextPlace(db, order, shown, after),
  }
}

const details = `jobs.id as jobId, jobs.created_at as createdAt, jobs.source_url as sourceUrl,
  uploads.filename, utterances.body`

/**
 * Joins the rows of the search index with what an answer shows. The joins are `cross`, so that SQLite reads
 * the index first.
 */
const joined = (rowId: string) => `cross join utterances on utterances.id = ${rowId}
  cross join jobs on jobs.seq = ${rowId} / ${utterancesMax} and jobs.deleted_at is null
  left join uploads on uploads.id = jobs.upload_id`

const statements: Record<SearchOrder, string> = {
  newest: `select ${details}, search.rowid as rowId from search ${joined('search.rowid')}
    where search match $match and search.rowid < $top order by search.rowid desc limit $limit`,
  best: `select ${details}, rowId
    from (
      select rowid as rowId, bm25(search, 0, 1) as score from search
      where search match $match and rowid < $top order by rowid desc limit $ranked
    )
    ${joined('rowId')} order by score, rowId desc limit $limit offset $skip`,
}

function nextPlace(
  db: Db,
  order: SearchOrder,
  shown: HitRow[],
  after: SearchPlace | null,
): SearchPlace | null {
  if (order === 'newest') return { top: shown.at(-1)?.rowId ?? 0, skip: 0 }
  return { top: after?.top ?? newestRowId(db) + 1, skip: (after?.skip ?? 0) + shown.length }
}

function newestRowId(db: Db): number {
  return db.find<{ id: number | null }>('select max(id) as id from utterances')?.id ?? 0
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

/** Returns the stretches that the phrases found, with the times of their words. */
function matchesIn({ text, start, end, words }: Utterance, phrases: readonly Phrase[]): Match[] {
  const spoken = placeWords(text, words)
  return findPhrases(text, phrases).map(({ from, to }) => {
    const touched = spoken.filter(word => word.from < to && word.to > from)
    return { from, to, start: touched[0]?.start ?? start, end: touched.at(-1)?.end ?? end }
  })
}

/** Finds the words of an utterance in its text. */
function placeWords(text: string, words: Utterance['words']): Match[] {
  let cursor = 0
  return words.flatMap(({ word, start, end }) => {
    const from = text.indexOf(word, cursor)
    if (from < 0) return []
    cursor = from + word.length
    return [{ from, to: cursor, start, end }]
  })
}

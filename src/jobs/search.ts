// Searches the utterances of all transcripts of an account.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { accountWord } from '../transcripts/search-index.ts'
import {
  countPhrases,
  findPhrases,
  type Phrase,
  phrasesOf,
  type Stretch,
} from '../transcripts/search-words.ts'
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

/** What the order functions need of a query. `match` is the query in the language of FTS5. */
type Query = { match: string; phrases: readonly Phrase[]; limit: number; after: SearchPlace | null }

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
  const match = `account : "${accountWord(accountId)}" AND text : (${quoted})`
  const { rows, next } = (order === 'best' ? best : newest)(db, { match, phrases, limit, after })
  return { hits: rows.map(row => hitOf(row, phrases)), next }
}

type Page = { rows: HitRow[]; next: SearchPlace | null }

const details = `jobs.id as jobId, jobs.created_at as createdAt, jobs.source_url as sourceUrl,
  uploads.filename, utterances.body, utterances.id as rowId`

/** Joins utterances with their jobs. The joins are `cross`, so that SQLite reads the utterances first. */
const jobsOfUtterances = `cross join jobs on jobs.seq = utterances.id / ${utterancesMax} and jobs.deleted_at is null
  left join uploads on uploads.id = jobs.upload_id`

const found = `from search cross join utterances on utterances.id = search.rowid ${jobsOfUtterances}
  where search match $match and search.rowid < $top order by search.rowid desc limit $limit`

const newestTop = Number.MAX_SAFE_INTEGER

function newest(db: Db, { match, limit, after }: Query): Page {
  const top = after?.top ?? newestTop
  // One hit more than the page holds shows that there is a next page.
  const rows = db.list<HitRow>(`select ${details} ${found}`, { match, top, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { rows: shown, next: last ? { top: last.rowId, skip: 0 } : null }
}

/**
 * Ranks the newest hits. FTS5's own rank is not used: for each word it counts all utterances that have the
 * word, and all utterances of the account, which takes 0.2 s for 30 million words.
 */
function best(db: Db, { match, phrases, limit, after }: Query): Page {
  const { top, skip } = after ?? { top: newestTop, skip: 0 }
  const candidates = db.list<{ rowId: number; text: string }>(
    `select search.rowid as rowId, utterances.body ->> '$.text' as text ${found}`,
    { match, top, limit: limits.searchRankedMax },
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
  // Later pages rank the same utterances, although newer ones may have come.
  const fixedTop = Math.min(top, (candidates[0]?.rowId ?? 0) + 1)
  const isLast = skip + limit >= ranked.length
  return { rows, next: isLast ? null : { top: fixedTop, skip: skip + limit } }
}

/** The constants of BM25, and the length of a usual utterance in characters. */
const [saturation, lengthWeight, usualLength] = [1.2, 0.75, 80]

/** Returns the rank of an utterance by BM25, with one weight for all phrases. */
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

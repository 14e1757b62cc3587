// Searches in the utterances of all transcripts of an account.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { PhraseFinder } from '../transcripts/find-phrases.ts'
import { phrasesOf } from '../transcripts/search-words.ts'
import { type Hit, hitOf } from './search-hits.ts'
import { newestPage, type SearchPlace } from './search-pages.ts'
import { bestPage } from './search-ranking.ts'

export type SearchOrder = 'newest' | 'best'

export type SearchPage = { hits: Hit[]; next: SearchPlace | null }

/**
 * Returns one page of the account's utterances that contain all phrases of `query`. The page has at most `limit` hits,
 * but ends earlier when it is larger than `searchPageBytesMax`. A `query` without words has no hits. A `query` with
 * more than `searchWordsMax` words has no hits either; the words of a repeated phrase count once.
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
  const { rows, hasMore } = (order === 'best' ? bestPage : newestPage)(db, {
    accountId,
    phrases,
    limit,
    after,
  })
  const finder = new PhraseFinder(phrases)
  const hits: Hit[] = []
  let bytes = 0
  for (const { row, place } of rows) {
    const hit = hitOf(row, finder)
    hits.push(hit)
    bytes += row.body.length + hit.matches.length * limits.searchMatchBytes
    const isLast = hits.length === rows.length
    if (isLast ? hasMore : bytes > limits.searchPageBytesMax) return { hits, next: place }
  }
  return { hits, next: null }
}

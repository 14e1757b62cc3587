// Merges segments of the search index, and purges the words of deleted transcripts. FTS5 (SQLite's full-text search)
// only marks a row as deleted. The words of the row stay in the file until a merge rewrites their segment. The table
// `unpurged` lists the deleted transcripts that need a purge.

import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

/**
 * Merges segments of the search index, but writes only a few database pages in each call. Fewer segments make a search
 * faster. Returns false if there is nothing to merge.
 */
export function mergeIndexPiece(db: Db): boolean {
  return merge(db, limits.mergedPagesPerPiece)
}

/** Returns true if the search index may still contain words of a deleted transcript. */
export function needsPurge(db: Db): boolean {
  return db.find('select 1 from unpurged limit 1') !== null
}

/**
 * Removes the words of deleted transcripts from the search index, by merging all its segments into one. Each `next`
 * does a small part of the merge. Transcripts that are deleted during the merge need a further purge.
 */
export function* purgeIndex(db: Db): Generator<void> {
  const purged = db.list<{ seq: number }>('select seq from unpurged')
  // With a negative number of pages, FTS5 starts a merge of all segments. With a positive number, FTS5 continues this
  // merge.
  for (let pages = -limits.mergedPagesPerPiece; merge(db, pages); pages = limits.mergedPagesPerPiece) yield
  db.tx(() => {
    for (const { seq } of purged) db.run('delete from unpurged where seq = $seq', { seq })
  })
}

function merge(db: Db, pages: number): boolean {
  return db.tx(() => {
    const before = totalChanges(db)
    db.run("insert into search (search, rank) values ('merge', $pages)", { pages })
    // This test is from the documentation of FTS5: the statement above always counts as one change. Two or more changes
    // mean that FTS5 has merged something.
    return totalChanges(db) - before >= 2
  })
}

function totalChanges(db: Db): number {
  return db.find<{ changes: number }>('select total_changes() as changes')?.changes ?? 0
}

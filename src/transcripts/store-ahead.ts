// Stores most of a long transcript before its job is completed, in many small transactions. The server can answer
// requests between them. The transaction that completes the job is then short: it stores the last utterances and the
// head (all other fields). If the job ends without a transcript, a background task removes the stored utterances.

import type { Db } from '../db/db.ts'
import { refusalOf } from '../db/refusal.ts'
import { limits } from '../limits.ts'
import { removePiece } from './delete-transcript.ts'
import { storeUtterances } from './store.ts'
import type { Utterance } from './transcript.ts'

type UnfinishedJob = { id: string; seq: number }

/**
 * Stores the utterances of a job in pieces, except the last piece. The transaction that completes the job stores the
 * last piece. Returns the number of stored utterances. First removes the utterances that an earlier recognition of the
 * same job has stored. Stops early if the job ends. Rejects if `signal` is aborted.
 */
export async function storeAhead(
  db: Db,
  job: UnfinishedJob,
  utterances: readonly Utterance[],
  signal: AbortSignal,
): Promise<number> {
  const pieceMax = limits.storedUtterancesPerPiece
  let stored = 0
  /**
   * Does the next piece of the work. An earlier recognition of this job may have stored utterances, which must be
   * removed first. If there are any, removes a piece of them. Otherwise stores the next `pieceMax` utterances. Returns
   * the number of new utterances stored so far, or null if the job has ended.
   */
  const writePiece = (): number | null => {
    if (!isUnfinished(db, job)) return null
    if (stored === 0 && hasRow(db, job)) {
      removePiece(db, { ...job, part: null })
      return 0
    }
    if (stored === 0)
      db.run('insert into transcripts (job_id, head, unindexed) values ($id, null, 0)', { id: job.id })
    storeUtterances(db, job.seq, utterances, { from: stored, to: stored + pieceMax })
    return stored + pieceMax
  }
  while (utterances.length - stored > pieceMax || (stored === 0 && hasRow(db, job))) {
    const reached = await whenWritable(db, writePiece, signal)
    if (reached === null) break
    stored = reached
    if (reached % (limits.storedPiecesPerDrain * pieceMax) === 0) await db.drainLog()
  }
  return stored
}

function isUnfinished(db: Db, { id }: UnfinishedJob): boolean {
  return db.find('select 1 from jobs where id = $id and completed_at is null', { id }) !== null
}

function hasRow(db: Db, { id }: UnfinishedJob): boolean {
  return db.find('select 1 from transcripts where job_id = $id', { id }) !== null
}

/**
 * Calls `write` in a transaction, after a pause. If the database is temporarily unusable (see `refusalOf`), tries again
 * after a longer pause.
 */
async function whenWritable<Written>(db: Db, write: () => Written, signal: AbortSignal): Promise<Written> {
  for (let pauseMs: number = limits.storePauseMs; ; pauseMs = limits.busyRetryAfterMs) {
    await Bun.sleep(pauseMs)
    signal.throwIfAborted()
    try {
      return db.tx(write)
    } catch (error) {
      if (refusalOf(error) === null) throw error
    }
  }
}

// Writes the search index in the background. Each transaction writes, removes or merges one small piece of the index,
// and between two transactions the server can answer requests. After a restart, the indexer continues with the first
// piece that was not committed.

import { errorFields, log } from '../base/log.ts'
import type { Db } from '../db/db.ts'
import { refusalOf } from '../db/refusal.ts'
import { limits } from '../limits.ts'
import { writeIndexPiece } from './search-index.ts'
import { mergeIndexPiece, needsPurge, purgeIndex } from './search-merge.ts'

export class Indexer {
  readonly #db: Db
  #running: Promise<void> | null = null
  /**
   * True if `wake` was called while the indexer was running. The indexer may then have missed a transcript, so it runs
   * once more.
   */
  #wokenAgain = false
  #closing = false
  #nextPurgeAt = 0
  #turns = 0

  constructor(db: Db) {
    this.#db = db
  }

  /**
   * Starts the indexer, unless it is closing. If the indexer is already running, it is started once more at the end of
   * the present run.
   */
  wake(): void {
    if (this.#closing) return
    this.#wokenAgain = this.#running !== null
    if (this.#running) return
    this.#running = this.#writeAll()
      .catch(error => {
        // If the database cannot be used at the moment, nothing is logged, because a sweep (periodic work of the
        // server) calls `wake` again.
        if (!refusalOf(error)) log.error('search index not written', errorFields(error))
      })
      .finally(() => {
        this.#running = null
        if (this.#wokenAgain) this.wake()
      })
  }

  /** Waits until the indexer is not running. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running
  }

  async close(): Promise<void> {
    this.#closing = true
    await this.settled()
  }

  async #writeAll(): Promise<void> {
    for (let work = true; work; ) {
      work = false
      for (const step of [writeIndexPiece, mergeIndexPiece]) {
        if (!(await this.#pause())) return
        if (step(this.#db)) work = true
      }
      await this.#endTurn()
    }
    await this.#purge()
  }

  /**
   * Removes the words of deleted transcripts from the search index. A purge that took N seconds is followed by a pause
   * of `purgePauseRatio` times N seconds, in which this function does nothing. A run of the indexer ends with a call of
   * this function, unless the run fails or the indexer is closing. A sweep (periodic work of the server) starts such a
   * run at intervals, so a later run purges the index again.
   */
  async #purge(): Promise<void> {
    const beganAt = this.#db.uptime()
    if (beganAt < this.#nextPurgeAt || !needsPurge(this.#db)) return
    for (const _ of purgeIndex(this.#db)) {
      if (!(await this.#pause())) return
      await this.#endTurn()
    }
    const endedAt = this.#db.uptime()
    this.#nextPurgeAt = endedAt + limits.purgePauseRatio * (endedAt - beganAt)
  }

  /**
   * Called after each turn, which is one or two small transactions of the indexer. After every `indexTurnsPerDrain`
   * turns, moves the write-ahead log into the database file.
   */
  async #endTurn(): Promise<void> {
    this.#turns += 1
    if (this.#turns % limits.indexTurnsPerDrain === 0) await this.#db.drainLog()
  }

  /**
   * Sleeps for `indexPauseMs`, so that the server can answer requests. Returns false if the indexer is being closed.
   */
  async #pause(): Promise<boolean> {
    await Bun.sleep(limits.indexPauseMs)
    return !this.#closing
  }
}

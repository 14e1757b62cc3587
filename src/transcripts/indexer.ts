// Writes the search index in the background, in small transactions. Between two transactions, the server can answer
// requests. After a restart, the indexer continues with the first piece that was not committed.

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

  /** Starts the indexer, unless it is closing. If it is already running, it runs once more afterwards. */
  wake(): void {
    if (this.#closing) return
    this.#wokenAgain = this.#running !== null
    if (this.#running) return
    this.#running = this.#writeAll()
      .catch(error => {
        // If the database is temporarily unusable, nothing is logged: a periodic task of the server calls `wake` again.
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
   * Removes the words of deleted transcripts from the search index. A purge rewrites the whole index. Therefore, after
   * a purge of N seconds, this function does nothing for `purgePauseRatio` times N seconds. A later run of the indexer
   * then purges the index again.
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
   * Called after each turn of the indexer, which is one or two small transactions. Every `indexTurnsPerDrain` turns,
   * moves the write-ahead log into the database file.
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

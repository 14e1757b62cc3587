// Writes the search index in the background, one piece per transaction. The server answers requests between two
// pieces. After a restart, the indexer continues at the first piece that was not committed.

import { errorFields, log } from '../base/log.ts'
import { type Db, refusalOf } from '../db/db.ts'
import { limits } from '../limits.ts'
import { mergeIndexPiece, needsPurge, purgeIndex, writeIndexPiece } from './search-index.ts'

export class Indexer {
  readonly #db: Db
  #running: Promise<void> | null = null
  /** True if `wake` was called after the current run began. That run may have looked for transcripts before. */
  #wokenAgain = false
  #closing = false
  #nextPurgeAt = 0
  #turns = 0

  constructor(db: Db) {
    this.#db = db
  }

  /** Starts a run of the indexer. If a run is in progress, another run follows it. */
  wake(): void {
    if (this.#closing) return
    this.#wokenAgain = this.#running !== null
    if (this.#running) return
    this.#running = this.#writeAll()
      .catch(error => {
        // When the database is locked or full, a sweep wakes the indexer again.
        if (!refusalOf(error)) log.error('search index not written', errorFields(error))
      })
      .finally(() => {
        this.#running = null
        if (this.#wokenAgain) this.wake()
      })
  }

  /** Waits until the index is complete, or until the indexer stopped because of an error. */
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

  /** Purges the index. Does nothing when the last purge is too recent. A sweep calls `wake` later. */
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

  /** Moves the write-ahead log into the database file after every few turns. */
  async #endTurn(): Promise<void> {
    this.#turns += 1
    if (this.#turns % limits.indexTurnsPerDrain === 0) await this.#db.drainLog()
  }

  /** Sleeps for `indexPauseMs`, so that the server can answer requests. Returns false when the indexer must stop. */
  async #pause(): Promise<boolean> {
    await Bun.sleep(limits.indexPauseMs)
    return !this.#closing
  }
}

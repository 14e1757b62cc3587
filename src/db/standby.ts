// A pair of servers: one server answers requests, and the other server waits. Both servers use one shared folder, which
// contains the lease and copies of the database. A server that takes the lease from the other server first restores the
// newest copy.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '../base/id.ts'
import { errorFields, log } from '../base/log.ts'
import { limits } from '../limits.ts'
import type { Clock } from './db.ts'
import { type Found, isRenewedBy, type Lease, openLease } from './lease.ts'
import { openCopies, requireCopy, restoreNewest, type Settings } from './shared-copies.ts'

type Options = {
  monotonic: Clock
  /** Called once if this server must wait, because another server holds the lease. */
  onWait: () => void
  /**
   * Called when this server has lost the lease, and so may no longer write to its database. (Of the servers that use
   * the same shared folder, only the holder of the lease may write.) This function must end the process.
   */
  onLost: () => void
  /**
   * Called before this server takes the lease in order to serve with its own database. Throws if it cannot serve with
   * this database. It then takes no lease. Otherwise each of its starts would take the lease again, and the other
   * server would wait without an end.
   */
  requireOwn?: () => void
}

export type Standby = {
  /**
   * Calls `onLost` if the lease of this server is no longer valid. Must be called before each write to the database.
   */
  check(): void
  /**
   * Starts to copy the database at intervals into the folder that both servers of the pair share. Resolves when the
   * first copy is complete or has failed.
   */
  startCopies(): Promise<void>
  /**
   * Makes a last copy of the database, and releases the lease, so that another server may take the lease at once. If
   * the copy fails, the lease is not released: this server can then start again with its own, newer database.
   */
  close(): Promise<void>
}

/**
 * Waits until this server gets the lease, which allows only one server at a time to write to its database. If another
 * server was the last to serve, or if this is not known, restores the newest copy of that server's database from the
 * shared folder. The caller must hold the lock of the data folder.
 */
export async function joinStandby(settings: Settings, options: Options): Promise<Standby> {
  const { folder, afterMs } = settings
  requireMark(folder)
  const holder = await ownHolder(settings)
  const isForeign = (last: Found) => last.holder !== null && last.holder !== holder
  const attempt = openLease({ folder, holder, afterMs, monotonic: options.monotonic }, last => {
    if (isForeign(last)) requireCopy(folder)
    else options.requireOwn?.()
  })
  let lease = await attempt()
  if (!lease) {
    log.info('standby', { folder })
    options.onWait()
  }
  for (; !lease; lease = await attempt()) await Bun.sleep(afterMs / limits.standbyLooks)
  log.info('lease taken', { folder, generation: lease.generation })
  const { stop, ...standby } = hold(lease, settings, options)
  try {
    if (isForeign(lease.last)) await restoreNewest(settings, lease.generation)
    // If this process was suspended for some time, the other server can take the lease. This server must then not write
    // its name into the lease file.
    standby.check()
    await lease.own()
  } catch (error) {
    stop()
    throw error
  }
  return standby
}

const withoutCopy = {
  reason: 'the last copy of the database failed',
  advice:
    'start this server again within STENO_STANDBY_AFTER; after this time, the other server takes over with an older copy',
}

/**
 * Renews the lease at intervals. Calls `onLost` when the lease is lost. `stop` ends the renewals without releasing the
 * lease.
 */
function hold(lease: Lease, settings: Settings, { onLost }: Options): Standby & { stop(): void } {
  let isLost = false
  let isClosing = false
  const lose = (reason: string) => {
    isLost = true
    clearInterval(renewals)
    clearTimeout(next)
    log.error('lease lost', { reason, advice: 'another server may serve; this one ends' })
    onLost()
  }
  const check = () => {
    if (!lease.isValid()) lose('the shared folder could not be written in time')
  }
  const renew = async () => {
    check()
    try {
      if (!(await lease.renew())) lose('another server has taken the lease')
    } catch (error) {
      log.warn('lease not renewed', errorFields(error))
    }
  }
  const renewals = setInterval(renew, settings.afterMs / limits.standbyLooks)
  const copies = openCopies(settings, lease.generation)
  let next: Timer | undefined
  const copyAgain = async () => {
    await copies.copy()
    if (isLost || isClosing) return
    next = setTimeout(copyAgain, settings.everyMs)
  }
  return {
    check,
    stop: () => clearInterval(renewals),
    startCopies: copyAgain,
    async close() {
      if (isLost) return
      isClosing = true
      clearTimeout(next)
      const isCopied = await copies.copy()
      clearInterval(renewals)
      if (isCopied) await lease.release().catch(error => log.warn('lease not released', errorFields(error)))
      else log.error('lease not released', withoutCopy)
    },
  }
}

/**
 * Throws if the shared folder does not contain the file `steno-pair`. If the shared folder is not mounted, an empty
 * local folder is in its place, and only this file shows the difference.
 */
function requireMark(folder: string): void {
  const mark = join(folder, 'steno-pair')
  if (!existsSync(mark)) throw new Error(`${mark} is missing: mount the shared folder; create the file once`)
}

/**
 * Returns the id of the data folder. When this server holds the lease in the shared folder, the lease file contains
 * this id as the name of the holder.
 *
 * If a server with the same id is serving, this data folder is a copy of the data folder of that server. Under the same
 * name, the two servers would take the lease from each other, and each of them would go on with its own database. So
 * this data folder gets another id: this server then waits, and restores a copy when it takes over.
 */
async function ownHolder({ folder, dataDir, afterMs }: Settings): Promise<string> {
  const holder = idOf(dataDir)
  if (!(await isRenewedBy({ folder, holder, afterMs }))) return holder
  log.warn('data folder is a copy', {
    data_dir: dataDir,
    advice: 'the server that it is a copy of serves; this server has an id of its own now, and waits',
  })
  rmSync(idPath(dataDir))
  return idOf(dataDir)
}

/** Returns the id of the data folder. The first call creates the id. */
function idOf(dataDir: string): string {
  const path = idPath(dataDir)
  if (!existsSync(path)) writeFileSync(path, newId(), { mode: 0o600 })
  return readFileSync(path, 'utf8')
}

function idPath(dataDir: string): string {
  return join(dataDir, 'standby.id')
}

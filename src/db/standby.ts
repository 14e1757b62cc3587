// A pair of servers: one server answers requests, and one server waits. The two servers share a folder. The folder
// contains copies of the database, and the lease: a file that the answering server renews at short intervals. If the
// renewals stop, the waiting server takes over, and first restores the newest copy of the database.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '../base/id.ts'
import { errorFields, log } from '../base/log.ts'
import { Draft } from '../base/whole-file.ts'
import type { Config } from '../config.ts'
import { limits } from '../limits.ts'
import type { Clock } from './db.ts'
import { type Found, isRenewedBy, type Lease, openLease, readLastHolder } from './lease.ts'
import { openCopies, requireCopy, restoreNewest, type Settings } from './shared-copies.ts'

type Options = {
  monotonic: Clock
  /** Called once if this server must wait because another server may hold the lease. */
  onWait: () => void
  /**
   * Called when this server has lost the lease. Must end the process, because this server may no longer write to its
   * database.
   */
  onLost: () => void
  /**
   * Called before this server takes the lease to serve with its own database. Throws if this database is unusable: the
   * server then takes no lease, and the other server of the pair can take over.
   */
  requireOwn?: () => void
}

export type Standby = {
  /**
   * Calls `onLost` if the lease of this server is no longer valid. Must be called before each write to the database.
   */
  check(): void
  /**
   * Starts to copy the database into the shared folder at intervals. Resolves when the first copy is complete or has
   * failed.
   */
  startCopies(): Promise<void>
  /**
   * Does nothing if the lease is lost. Otherwise, makes a last copy of the database, and releases the lease for another
   * server. If the copy fails, the lease is not released: this server can then start again with its own, newer
   * database.
   */
  close(): Promise<void>
}

/**
 * Waits until this server gets the lease. Each server has its own database, and may write to it only while the server
 * holds the lease. If another server held the lease before, replaces the database of this server with the newest copy
 * in the shared folder. The caller must hold the lock of the data folder.
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
    // Another server can take the lease while this process is suspended. This server must then not write its name into
    // the lease file.
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
 * Renews the lease at intervals. Calls `onLost` when the lease is lost. `stop` ends the renewals and keeps the lease.
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
 * Returns a message if the lease names the other server of the pair as the last one that answered requests. The
 * database in this data folder is then old, and a copy of the other server's database will replace it. Changes in this
 * data folder would be lost. Otherwise, returns null. Also returns null if this data folder was never used in a pair,
 * or if the lease cannot be read.
 */
export function whyOutdated({
  standby: folder,
  dataDir,
}: Pick<Config, 'standby' | 'dataDir'>): string | null {
  const own = readId(dataDir)
  if (folder === null || own === null) return null
  const last = tryReadLastHolder(folder)
  if (!last || last === own) return null
  return `the other server of the pair served last, and its database replaces the one in ${dataDir}: run this command on the machine of that server`
}

function tryReadLastHolder(folder: string): string | null | undefined {
  try {
    return readLastHolder(folder)
  } catch {
    // The folder is not mounted, or root may not read the files of the service there, as on most NFS exports.
    return undefined
  }
}

/**
 * Throws if the shared folder does not contain the file `steno-pair`. Without this file, the folder may be the empty
 * mount point of a folder that is not mounted.
 */
function requireMark(folder: string): void {
  const mark = join(folder, 'steno-pair')
  if (!existsSync(mark)) throw new Error(`${mark} is missing: mount the shared folder; create the file once`)
}

/**
 * Returns the id of the data folder. If this server holds the lease, the lease file contains this id as the name of the
 * holder.
 *
 * If a server with the same id is serving, this data folder is a copy of the data folder of that server. Two servers
 * with the same id would take the lease from each other. So this data folder gets a new id, and the new id is returned.
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

/** Returns the id of the data folder. Creates the id at the first call. */
function idOf(dataDir: string): string {
  const known = readId(dataDir)
  if (known !== null) return known
  const id = newId()
  // `Draft.replace` flushes the id to the disk, so that a power cut does not delete the id. Without the id, this server
  // would get a new id, and would not find it in the lease. So it would conclude that the other server has the newest
  // database, and would replace its own database with an older copy.
  using draft = new Draft(idPath(dataDir))
  writeFileSync(draft.path, id, { mode: 0o600 })
  draft.replace()
  return id
}

/** Returns the id of the data folder, or null if there is none. A full disk may have left an empty file. */
function readId(dataDir: string): string | null {
  const path = idPath(dataDir)
  return existsSync(path) ? readFileSync(path, 'utf8') || null : null
}

function idPath(dataDir: string): string {
  return join(dataDir, 'standby.id')
}

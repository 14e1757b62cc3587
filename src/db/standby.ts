// A pair of servers: one server answers requests, and the other server waits. Both use one shared folder, which
// contains the lease and copies of the database. A server that takes the lease from the other server first restores the
// newest copy.

import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '../base/id.ts'
import { errorFields, log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import { secretPath } from '../base/seal.ts'
import { selfCommand } from '../base/self.ts'
import { limits } from '../limits.ts'
import { checkCopy, filesOf, placeCopy } from './copy.ts'
import { type Clock, databasePath } from './db.ts'
import { type Found, type Lease, openLease } from './lease.ts'

type Settings = { folder: string; dataDir: string; afterMs: number; everyMs: number }

type Options = {
  monotonic: Clock
  /** Called once if this server must wait, because another server holds the lease. */
  onWait: () => void
  /**
   * Called when this server has lost the lease, and so may no longer write to the database. This function must end the
   * process.
   */
  onLost: () => void
}

export type Standby = {
  /**
   * Calls `onLost` if the lease of this server is no longer valid. Must be called before each write to the database.
   */
  check(): void
  /** Starts to copy the database into the shared folder at intervals. Resolves when the first copy is complete. */
  startCopies(): Promise<void>
  /** Makes a last copy of the database, and releases the lease, so that another server may take the lease at once. */
  close(): Promise<void>
}

/**
 * Waits until this server gets the lease. When this function resolves, the data folder of this server has the latest
 * database that is known. The caller must hold the lock of the data folder.
 */
export async function joinStandby(settings: Settings, options: Options): Promise<Standby> {
  const { folder, dataDir, afterMs } = settings
  requireMark(folder)
  const holder = holderOf(dataDir)
  const isForeign = (last: Found) => last.generation > 0 && last.holder !== holder
  const attempt = openLease({ folder, holder, afterMs, monotonic: options.monotonic }, last => {
    if (isForeign(last) && last.holder !== null) requireCopy(folder)
  })
  let lease = await attempt()
  if (!lease) {
    log.info('standby', { folder })
    options.onWait()
  }
  for (; !lease; lease = await attempt()) await Bun.sleep(afterMs / limits.standbyLooks)
  log.info('lease taken', { folder, generation: lease.generation })
  if (isForeign(lease.last)) restoreNewest(settings, lease.generation)
  await lease.own()
  return hold(lease, settings, options)
}

function hold(lease: Lease, settings: Settings, { onLost }: Options): Standby {
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
    startCopies: copyAgain,
    async close() {
      if (isLost) return
      isClosing = true
      clearTimeout(next)
      await copies.copy()
      clearInterval(renewals)
      await lease.release().catch(error => log.warn('lease not released', errorFields(error)))
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

/** Returns the id of the data folder, under which this server holds the lease. The first call creates the id. */
function holderOf(dataDir: string): string {
  const path = join(dataDir, 'standby.id')
  if (!existsSync(path)) writeFileSync(path, newId(), { mode: 0o600 })
  return readFileSync(path, 'utf8')
}

/** Returns the names of the database copies in the shared folder, newest first. */
function listCopies(folder: string): string[] {
  return readdirSync(folder)
    .filter(name => /^copy-\d{8}-\d{8}\.db$/.test(name))
    .toSorted()
    .toReversed()
}

function requireCopy(folder: string): void {
  if (listCopies(folder).length === 0)
    throw new Error(
      `${folder} has no copy of the database of the server that had the lease: start that server again`,
    )
}

/**
 * Restores the newest intact copy of the database from the shared folder. Does nothing if no copy is intact. The
 * previous database of this server stays in the data folder under another name.
 */
function restoreNewest({ folder, dataDir }: Settings, generation: number): void {
  for (const name of listCopies(folder)) {
    const file = join(folder, name)
    try {
      checkCopy(file)
    } catch (error) {
      log.warn('copy skipped', { reason: reasonOf(error) })
      continue
    }
    const files = filesOf(file, dataDir).filter(({ from, to }) => !isSameSecret(from, to, dataDir))
    setAside(dataDir, generation)
    placeCopy(files, dataDir)
    log.info('copy restored', { file })
    return
  }
}

/**
 * `from` is a file of a database copy, and `to` is the place of this file in the data folder. Returns true if `to` is
 * the place of the secret, and the data folder already has the same secret. Throws if the data folder has another
 * secret. Returns false in all other cases.
 */
function isSameSecret(from: string, to: string, dataDir: string): boolean {
  if (to !== secretPath(dataDir) || !existsSync(to)) return false
  if (readFileSync(from).equals(readFileSync(to))) return true
  throw new Error(`${to} is not the secret of ${from}: the data folder belongs to another service`)
}

function setAside(dataDir: string, generation: number): void {
  const path = databasePath(dataDir)
  for (const name of readdirSync(dataDir)) if (name.startsWith('replaced-')) rmSync(join(dataDir, name))
  for (const suffix of ['', '-wal', '-shm'])
    if (existsSync(path + suffix))
      renameSync(path + suffix, join(dataDir, `replaced-${generation}.db${suffix}`))
}

/**
 * Returns a function that copies the database into the shared folder. The copy is made in a child process, because
 * copying a large database takes seconds.
 */
function openCopies({ folder, dataDir }: Settings, generation: number): { copy(): Promise<void> } {
  const digits = (value: number) => `${value}`.padStart(8, '0')
  let count = 0
  let running = Promise.resolve()
  async function copyNow(): Promise<void> {
    const name = `copy-${digits(generation)}-${digits(count++)}.db`
    const command = selfCommand('backup', join(folder, name), '--data-dir', dataDir)
    const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
    const message = await child.stderr.text()
    if ((await child.exited) !== 0) {
      log.error('database not copied', { reason: message.trim() })
      return
    }
    for (const old of listCopies(folder).slice(limits.standbyCopies))
      for (const file of [old, `${old}.key`]) rmSync(join(folder, file), { force: true })
  }
  return {
    copy() {
      running = running.then(copyNow)
      return running
    },
  }
}

// Writes, restores and removes copies of the database in a folder that two servers share. If the server that answers
// requests fails, the other server restores the newest copy and takes its place.

import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { removeOldDrafts } from '../base/draft-names.ts'
import { errorFields, log } from '../base/log.ts'
import { secretPath } from '../base/seal.ts'
import { selfCommand } from '../base/self.ts'
import { spawnChild } from '../base/spawn-child.ts'
import { Draft } from '../base/whole-file.ts'
import { limits } from '../limits.ts'
import { filesOf } from './copy.ts'
import { databaseFiles, databasePath } from './db.ts'
import { restoreInChild } from './restore-child.ts'

export type Settings = { folder: string; dataDir: string; afterMs: number; everyMs: number }

/** Returns the names of the database copies in `folder`, newest first. */
function listCopies(folder: string): string[] {
  return readdirSync(folder)
    .filter(name => /^copy-\d{8}-\d{8}\.db$/.test(name))
    .toSorted()
    .toReversed()
}

export function requireCopy(folder: string): void {
  if (listCopies(folder).length === 0) throw withoutCopy(folder)
}

function withoutCopy(folder: string): Error {
  return new Error(
    `${folder} has no intact copy of the database of the server that served last: start that server again; docs/standby.md says what to do if its database is lost`,
  )
}

/**
 * Restores the newest intact copy of the database from the shared folder. Keeps the previous database in the data
 * folder under another name. Throws if no copy is intact, or if a copy belongs to another service.
 */
export async function restoreNewest({ folder, dataDir }: Settings, generation: number): Promise<void> {
  removeOldDrafts(dataDir)
  for (const name of listCopies(folder)) {
    const file = join(folder, name)
    if (!existsSync(`${file}.key`)) {
      log.warn('copy skipped', { reason: `${file}.key is missing` })
      continue
    }
    const files = filesOf(file, dataDir).filter(({ from, to }) => !isSameSecret(from, to, dataDir))
    using restored = new Draft(databasePath(dataDir))
    const problem = await restoreInChild(file, restored.path)
    if (problem !== null) {
      log.warn('copy skipped', { reason: problem })
      continue
    }
    setAside(dataDir, generation)
    for (const { to } of files) moveFile(join(restored.path, basename(to)), to)
    log.info('copy restored', { file })
    return
  }
  throw withoutCopy(folder)
}

/** Moves a restored file into the data folder. */
function moveFile(from: string, to: string): void {
  using draft = new Draft(to)
  renameSync(from, draft.path)
  if (!draft.place()) throw new Error(`${to} exists already`)
}

/**
 * Returns true if the file `from` of a database copy need not be restored, because it is the secret key, and the data
 * folder has the same key already. `to` is the path of the restored file in the data folder. Returns false if `from` is
 * another file, or if the data folder has no key. Throws if the data folder has another key, because the copy then
 * belongs to another service.
 */
function isSameSecret(from: string, to: string, dataDir: string): boolean {
  if (to !== secretPath(dataDir) || !existsSync(to)) return false
  if (readFileSync(from).equals(readFileSync(to))) return true
  throw new Error(`${to} is not the secret of ${from}: the data folder belongs to another service`)
}

/**
 * Renames the files of the database, so that the previous database is kept: steno.db to `replaced-N.db`, and the files
 * of its log in the same way. First removes the database that an earlier call renamed. But if there is a
 * `replaced-N.db` and no steno.db, an earlier call may have been interrupted. Then removes nothing, and only renames
 * the remaining files.
 */
function setAside(dataDir: string, generation: number): void {
  const former = readdirSync(dataDir).filter(name => name.startsWith('replaced-'))
  const begun = existsSync(databasePath(dataDir)) ? undefined : former.find(name => name.endsWith('.db'))
  if (begun === undefined) for (const name of former) rmSync(join(dataDir, name))
  const target = begun ?? `replaced-${generation}.db`
  for (const path of databaseFiles(dataDir))
    if (existsSync(path)) renameSync(path, join(dataDir, basename(path).replace('steno.db', target)))
}

/**
 * Returns the function `copy`, which copies the database into the shared folder in a child process: copying a large
 * database takes seconds, and would block the event loop of the server. `copy` returns false after an error, and logs
 * the error.
 */
export function openCopies({ folder, dataDir }: Settings, generation: number): { copy(): Promise<boolean> } {
  const digits = (value: number) => `${value}`.padStart(8, '0')
  let count = 0
  let running = Promise.resolve(true)
  async function copyNow(): Promise<boolean> {
    const name = `copy-${digits(generation)}-${digits(count++)}.db`
    const command = selfCommand('backup-copy', join(folder, name), '--data-dir', dataDir)
    const child = spawnChild(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
    const message = await child.stderr.text()
    const code = await child.exited
    // Old files are removed also after a failed copy. The copy may have failed because unfinished files of killed
    // processes fill the disk, and these files are removed too.
    removeOld(folder)
    if (code === 0) return true
    log.error('database not copied', { reason: message.trim() })
    return false
  }
  return {
    copy() {
      running = running.then(copyNow).catch(error => {
        log.error('database not copied', errorFields(error))
        return false
      })
      return running
    },
  }
}

/**
 * Removes old copies, and the unfinished files that killed processes left. If this fails, logs the error and does not
 * throw.
 */
function removeOld(folder: string): void {
  try {
    removeOldDrafts(folder)
    for (const old of listCopies(folder).slice(limits.standbyCopies))
      for (const file of [old, `${old}.key`]) rmSync(join(folder, file), { force: true })
  } catch (error) {
    log.warn('old copies not removed', errorFields(error))
  }
}

// Opens the data folder, which contains everything that the service stores. Only one server may use a data
// folder.

import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../base/file-lock.ts'
import { reasonOf } from '../base/reason.ts'
import { isDraft } from '../base/whole-file.ts'
import { databasePath } from './db.ts'

/** The names that a data folder may contain. `lost+found` is a folder in the root of many file systems. */
const ownNames =
  /^((steno\.db|serve\.lock)(-wal|-shm|-journal)?|secret\.key|standby\.id|replaced-\d+\.db(-wal|-shm)?|uploads|media|mail|models|native|lost\+found)$/

/**
 * Creates the data folder. Only its owner may enter it. Throws when the folder contains files of another
 * program. Throws when the folder has media but no database, because the server removes media that belongs to
 * no job. `restoring` is true when a backup of the database will be copied into the folder; then media is
 * allowed.
 */
export function makeDataDir(dataDir: string, { restoring = false } = {}): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    if (!hasDatabase(dataDir)) {
      requireNothingForeign(dataDir)
      if (!restoring) requireNoMedia(dataDir)
    }
    chmodSync(dataDir, 0o700)
  } catch (error) {
    const reason = reasonOf(error)
    throw new Error(`the data folder cannot be used: ${reason}; STENO_DATA_DIR names another`)
  }
}

/**
 * Returns true if the database contains data. After a crash soon after the start, only the write-ahead log contains
 * data.
 */
export function hasDatabase(dataDir: string): boolean {
  const path = databasePath(dataDir)
  return [path, `${path}-wal`].some(file => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0)
}

function requireNothingForeign(dataDir: string): void {
  const foreign = readdirSync(dataDir).find(name => !ownNames.test(name) && !isDraft(name))
  if (foreign !== undefined) throw new Error(`${dataDir} is not empty and not of steno: it has ${foreign}`)
}

function requireNoMedia(dataDir: string): void {
  for (const name of ['uploads', 'media']) {
    const folder = join(dataDir, name)
    const [file] = existsSync(folder) && !isLink(folder) ? readdirSync(folder) : []
    if (file !== undefined)
      throw new Error(`${folder} has files, such as ${file}, but steno.db is missing or empty`)
  }
}

/** Tells whether a folder is a symbolic link. The server removes no unknown media from it: a pair of servers may share it. */
function isLink(folder: string): boolean {
  return lstatSync(folder).isSymbolicLink()
}

/**
 * Locks the data folder. Returns the function that releases the lock. Throws when another server holds the
 * lock.
 */
export function lockDataDir(dataDir: string): () => void {
  const release = lockFile(join(dataDir, 'serve.lock'))
  if (!release) throw new Error(`another steno is already serving the data folder ${dataDir}`)
  return release
}

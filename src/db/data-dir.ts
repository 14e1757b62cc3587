// The data folder: it contains everything that the service stores, and is used by one server at a time.

import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../base/file-lock.ts'
import { reasonOf } from '../base/reason.ts'
import { isDraft } from '../base/whole-file.ts'
import { databasePath } from './db.ts'

/** What this program names in a data folder. `lost+found` is in the root of a file system. */
const ownNames =
  /^((steno\.db|serve\.lock)(-wal|-shm|-journal)?|secret\.key|uploads|media|mail|models|native|lost\+found)$/

/**
 * Creates the folder. Only its owner may enter it. Throws for a folder of something else, and for media whose database
 * is lost: a new database would make it media of no job, which is removed. `restoring` is for a database that comes
 * back.
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

/** A database that was killed early is all in its write-ahead log. */
function hasDatabase(dataDir: string): boolean {
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
    const [file] = existsSync(folder) ? readdirSync(folder) : []
    if (file !== undefined)
      throw new Error(`${folder} has files, such as ${file}, but steno.db is missing or empty`)
  }
}

/** Returns the function that releases the lock. Throws when another server holds it. */
export function lockDataDir(dataDir: string): () => void {
  const release = lockFile(join(dataDir, 'serve.lock'))
  if (!release) throw new Error(`another steno is already serving the data folder ${dataDir}`)
  return release
}

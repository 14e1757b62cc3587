// The data folder: the database, the secret, the media and other files of the service. Only one server at a time may
// use a data folder.

import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { isDraft, removeOldDrafts } from '../base/draft-names.ts'
import { lockFile } from '../base/file-lock.ts'
import { reasonOf } from '../base/reason.ts'
import { secretPath } from '../base/seal.ts'
import { shellWord } from '../base/shell-word.ts'
import { databaseFiles, databasePath } from './db.ts'

/**
 * Matches the names of the files and folders that a data folder may contain, except drafts (unfinished files). The top
 * folder of many file systems contains `lost+found`.
 */
const ownNames =
  /^((steno\.db|replaced-\d+\.db|serve\.lock)(-wal|-shm|-journal)?|secret\.key|standby\.id|uploads|media|mail|models|native|lost\+found)$/

/**
 * Creates the data folder if it does not exist, lets only its owner enter it, and removes old drafts (unfinished files
 * of killed processes). Throws if a folder without a database contains files of another program. Also throws if the
 * folder has lost its database: other files in it show that there was one (see `requireNothingLost`). `restoring`
 * switches the last check off, because a restore brings the database back.
 */
export function makeDataDir(dataDir: string, { restoring = false } = {}): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    requireNothingForeign(dataDir)
    if (!restoring) requireNothingLost(dataDir)
    chmodSync(dataDir, 0o700)
    removeOldDrafts(dataDir)
  } catch (error) {
    const advice =
      Object(error).code === 'EROFS'
        ? 'STENO_DATA_DIR names another, and steno install then allows the service to write there'
        : 'STENO_DATA_DIR names another'
    throw new Error(`the data folder cannot be used: ${reasonOf(error)}; ${advice}`)
  }
}

/**
 * Returns true if the data folder has a database with content. A write-ahead log without a database does not count:
 * SQLite deletes it, and begins an empty database.
 */
export function hasDatabase(dataDir: string): boolean {
  return hasContent(databasePath(dataDir))
}

function hasContent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/**
 * Throws if this process may not read and write the files of the database, or may not read the secret. SQLite needs
 * write access even for reading. Without this check, SQLite would fail with an error that does not name the file.
 */
export function requireAccess(dataDir: string): void {
  for (const path of databaseFiles(dataDir)) tryAccess(path, constants.R_OK | constants.W_OK)
  tryAccess(secretPath(dataDir), constants.R_OK)
}

function tryAccess(path: string, mode: number): void {
  try {
    accessSync(path, mode)
  } catch (error) {
    const refusal = refusals[(error as NodeJS.ErrnoException).code ?? '']
    if (refusal !== undefined) throw new Error(refusal(path))
  }
}

/**
 * Throws if a file or folder in the data folder does not belong to the owner of the data folder. The service could not
 * use it. Without this check, `steno doctor` as root would not notice such a file, because root may use every file.
 * Models may belong to any user.
 */
export function requireOneOwner(dataDir: string): void {
  const { uid } = statSync(dataDir)
  if (uid === 0) return
  const foreign = readdirSync(dataDir)
    .filter(name => ownNames.test(name) && !/^(models|lost\+found)$/.test(name))
    .map(name => join(dataDir, name))
    .find(path => {
      const found = lstatSync(path, { throwIfNoEntry: false })
      return found && !found.isSymbolicLink() && found.uid !== uid
    })
  if (foreign === undefined) return
  const folder = shellWord(dataDir)
  throw new Error(
    `${foreign} does not belong to the owner of the data folder: run chown -R --reference=${folder} ${folder}`,
  )
}

/** Returns true if this user may not enter the folder, or may not enter a folder above it. */
export function isClosed(dataDir: string): boolean {
  try {
    accessSync(dataDir, constants.X_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES'
  }
}

const refusals: Record<string, (path: string) => string> = {
  EROFS: path =>
    `${path} is on a read-only file system: make it writable, or copy steno.db, each steno.db-* and secret.key into another folder, and name this folder with --data-dir`,
  EACCES: path =>
    `this user may not read and write ${path}: run the command as the user of the service, or as root`,
}

/**
 * Throws if the folder has no database but contains files of another program. steno allows only the owner to enter its
 * data folder. If steno used the folder of another program, all other users would lose access to the files in it.
 */
export function requireNothingForeign(dataDir: string): void {
  if (!existsSync(dataDir) || hasDatabase(dataDir)) return
  const foreign = readdirSync(dataDir).find(name => !ownNames.test(name) && !isDraft(name))
  if (foreign !== undefined) throw new Error(`${dataDir} is not empty and not of steno: it has ${foreign}`)
}

/**
 * Returns the folders of media files: `uploads` for files that callers sent, and `downloads` for files that the server
 * downloaded.
 */
export function mediaFolders(dataDir: string): { uploads: string; downloads: string } {
  return { uploads: join(dataDir, 'uploads'), downloads: join(dataDir, 'media') }
}

/**
 * Throws if the folder has no database, but has files that exist only after a database was made. In this case, the
 * database was removed later, or the program was killed while it replaced the database: during a restore, or during a
 * takeover from the other server of a pair. A server that started with a new, empty database would delete the media
 * files, because no job would need them.
 */
export function requireNothingLost(dataDir: string): void {
  if (hasDatabase(dataDir)) return
  requireNoMedia(dataDir)
  const [left] = [
    ...readdirSync(dataDir).filter(name => name.startsWith('replaced-')),
    ...[`${databasePath(dataDir)}-wal`, secretPath(dataDir)].filter(hasContent).map(path => basename(path)),
  ]
  if (left !== undefined)
    throw new Error(
      `${join(dataDir, left)} belongs to a database, but steno.db is missing or empty: put steno.db back, or, to restore a backup or begin without a database, move secret.key, each replaced-* and each steno.db-* out of the folder`,
    )
}

/**
 * Throws if a folder of media files has files. A server with a new, empty database would delete these files, because no
 * job would need them. A folder that is a symbolic link is not checked. Several servers may share such a folder, so its
 * files may belong to another server.
 */
function requireNoMedia(dataDir: string): void {
  for (const folder of Object.values(mediaFolders(dataDir))) {
    const [file] = existsSync(folder) && !isLink(folder) ? readdirSync(folder) : []
    if (file !== undefined)
      throw new Error(`${folder} has files, such as ${file}, but steno.db is missing or empty`)
  }
}

/**
 * Returns true if the folder is a symbolic link. Several servers may share a linked folder, so it may contain media of
 * another server.
 */
function isLink(folder: string): boolean {
  return lstatSync(folder).isSymbolicLink()
}

/** Locks the data folder. Returns the function that releases the lock. Throws if another server holds the lock. */
export function lockDataDir(dataDir: string): () => void {
  const release = lockFile(lockPath(dataDir))
  if (!release) throw new Error(`another steno is already serving the data folder ${dataDir}`)
  return release
}

/** Returns true if a running server uses the data folder. */
export function isServed(dataDir: string): boolean {
  const release = lockFile(lockPath(dataDir))
  release?.()
  return release === null
}

function lockPath(dataDir: string): string {
  return join(dataDir, 'serve.lock')
}

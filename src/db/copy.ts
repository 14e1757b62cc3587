// Copies of the database. A copy has two files: FILE is the database. FILE.key is the secret of the data folder, which
// decrypts some columns.

import { Database } from 'bun:sqlite'
import { chmodSync, copyFileSync, existsSync, rmSync } from 'node:fs'
import { inheritOwner } from '../base/inherit-owner.ts'
import { reasonOf } from '../base/reason.ts'
import { readSecret, secretPath } from '../base/seal.ts'
import { Draft } from '../base/whole-file.ts'
import { limits } from '../limits.ts'
import { type Db, databaseFiles, databasePath, type Params } from './db.ts'
import { isNew, listApplied } from './migrate.ts'
import { faultIn, openDb } from './open-db.ts'
import { whyUnreadable } from './unreadable.ts'

/**
 * Writes a consistent copy of the database in the data folder to `target`. An existing file at `target` must be empty.
 * Applies no migrations, because the running server may be older than this program. Throws if the database is damaged.
 */
export function copyDatabase(dataDir: string, target: string): void {
  try {
    using db = new Database(databasePath(dataDir))
    db.run(`pragma busy_timeout = ${limits.databaseBusyMs}`)
    listApplied(db)
    db.query('vacuum into $target').run({ $target: target })
  } catch (error) {
    // If the copying fails, for example because the disk is full, SQLite leaves the journal of the copy. The journal is
    // removed here.
    rmSync(`${target}-journal`, { force: true })
    throw faultIn(dataDir, error)
  }
}

/** Checks a copy of the database. Throws if its secret or its database is damaged, or if a newer program made it. */
export function checkCopy(file: string): void {
  readSecret(`${file}.key`)
  const problem = problemOf(file)
  if (problem !== null) throw new Error(problem)
  using db = new Database(file, { readonly: true })
  listApplied(db)
}

/** Opens a copy of the database for reading only. */
export function openCopy(file: string): Pick<Db, 'find'> & Disposable {
  const sql = openReadOnly(file)
  return {
    find: <Row>(statement: string, params: Params = {}) => sql.query<Row, [Params]>(statement).get(params),
    [Symbol.dispose]: () => sql.close(),
  }
}

/**
 * Opens the database of the data folder for reading only. Returns null if the database has no tables, for example
 * because the first start of the server was killed. Throws if the database is damaged or from a newer program. Does not
 * find damage beyond the first pages.
 */
export function openOwn(dataDir: string): ReturnType<typeof openCopy> | null {
  const path = databasePath(dataDir)
  try {
    using sql = openReadOnly(path)
    if (isNew(sql)) return null
    listApplied(sql)
  } catch (error) {
    throw faultIn(dataDir, error)
  }
  return openCopy(path)
}

/**
 * Opens a database for reading only. A read waits up to `databaseBusyMs` while another process, such as a command,
 * locks the database.
 */
function openReadOnly(file: string): Database {
  const sql = new Database(file, { readonly: true, strict: true })
  sql.run(`pragma busy_timeout = ${limits.databaseBusyMs}`)
  return sql
}

/** Returns the reason why a copy of the database must not be restored, or null if it is intact. */
export function problemOf(file: string): string | null {
  let result: unknown
  try {
    const db = new Database(file, { readonly: true })
    try {
      result = db.query<{ quick_check: string }, []>('pragma quick_check').get()?.quick_check
      if (result === 'ok') db.query('select 1 from migrations').get()
    } finally {
      db.close()
    }
  } catch (error) {
    result = reasonOf(error)
  }
  return result === 'ok' ? null : (whyUnreadable(file) ?? `${file} is no sound backup: ${result}`)
}

/** Returns the two files of a copy, the secret and the database, each with its path in the restored data folder. */
export function filesOf(file: string, dataDir: string): { from: string; to: string }[] {
  // The secret is placed before the database. In the other order, a server that starts between both steps would find
  // that the secret of the database is missing, and would end.
  return [
    { from: `${file}.key`, to: secretPath(dataDir) },
    { from: file, to: databasePath(dataDir) },
  ]
}

/**
 * Restores a copy of the database into a data folder. Throws if the folder already has a database or a secret (the file
 * secret.key). Then applies missing migrations. If a migration fails, the copy stays in the data folder, and the next
 * start of the service tries the migration again.
 */
export function placeCopy(files: readonly { from: string; to: string }[], dataDir: string): void {
  requireNoDatabase(dataDir)
  using drafts = new DisposableStack()
  // Both files are copied to drafts before either of them gets its final name. A full disk then leaves the data folder
  // unchanged, and the restore can be repeated.
  const copied = files.map(({ from, to }) => {
    const draft = drafts.use(new Draft(to))
    copyFileSync(from, draft.path)
    chmodSync(draft.path, 0o600)
    inheritOwner(draft.path)
    return { draft, to }
  })
  for (const { draft, to } of copied) if (!draft.place()) throw alreadyThere(to)
  readSecret(secretPath(dataDir))
  try {
    openDb(dataDir).close()
  } catch (error) {
    throw new Error(
      `the backup is in ${dataDir} now, and the next start of the service brings it up to date, which failed here: ${reasonOf(error)}`,
      { cause: error },
    )
  }
}

/** Throws if a file of the copy is missing, or if the data folder already has a database or a secret. */
export function requireFree(files: readonly { from: string; to: string }[], dataDir: string): void {
  // The user gave only the path of the database, which is the last of `files`. The database is checked first: if both
  // files are missing, the error names the path that the user gave.
  for (const { from } of files.toReversed())
    if (!existsSync(from)) throw new Error(`there is no file ${from}; a backup is FILE and FILE.key`)
  requireNoDatabase(dataDir)
}

function requireNoDatabase(dataDir: string): void {
  const found = [...databaseFiles(dataDir), secretPath(dataDir)].find(path => existsSync(path))
  if (found !== undefined) throw alreadyThere(found)
}

function alreadyThere(path: string): Error {
  return new Error(
    `${path} exists already; a backup is restored into an empty folder: name another one, or stop the server and move steno.db, each steno.db-* and secret.key out of this one`,
  )
}

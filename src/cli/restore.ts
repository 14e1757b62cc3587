import { Database } from 'bun:sqlite'
import { chmodSync, constants, copyFileSync, existsSync, linkSync, mkdirSync, rmSync } from 'node:fs'
import { openSecrets, secretPath } from '../base/seal.ts'
import { databasePath, openDb } from '../db/db.ts'
import { type Command, need, print } from './command.ts'
import { configOf } from './settings.ts'

export const restore: Command = {
  usage: 'steno restore FILE [--json]',
  summary: 'Put a backup, FILE and FILE.key, into an empty data folder.',
  options: { json: { type: 'boolean' } },
  async run(positionals, values) {
    const [file = ''] = need(positionals, 'FILE')
    const { dataDir } = configOf()
    const pairs = [
      { from: `${file}.key`, to: secretPath(dataDir) },
      { from: file, to: databasePath(dataDir) },
    ]
    for (const { from, to } of pairs) {
      if (!existsSync(from)) throw new Error(`there is no file ${from}; a backup is FILE and FILE.key`)
      if (existsSync(to)) throw new Error(`${to} exists already; a backup is restored into an empty folder`)
    }
    checkDatabase(file)

    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    chmodSync(dataDir, 0o700)
    // The key first: a server that finds no database makes one, and one that finds no key makes a key that opens nothing.
    for (const { from, to } of pairs) place(from, to)
    openSecrets(dataDir)
    openDb(dataDir).close()
    print(
      values,
      { data_dir: dataDir },
      () => `${dataDir}: restored; jobs that were under way go on from here`,
    )
  },
}

function checkDatabase(file: string): void {
  let told: unknown
  try {
    const db = new Database(file, { readonly: true })
    try {
      told = db.query<{ quick_check: string }, []>('pragma quick_check').get()?.quick_check
      if (told === 'ok') db.query('select 1 from migrations').get()
    } finally {
      db.close()
    }
  } catch (error) {
    told = error instanceof Error ? error.message : error
  }
  if (told !== 'ok') throw new Error(`${file} is no sound backup: ${told}`)
}

/** A link puts the whole file there or nothing, and never over another. */
function place(from: string, to: string): void {
  const draft = `${to}.${process.pid}`
  copyFileSync(from, draft, constants.COPYFILE_EXCL)
  try {
    chmodSync(draft, 0o600)
    linkSync(draft, to)
  } finally {
    rmSync(draft)
  }
}

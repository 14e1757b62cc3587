import { Database } from 'bun:sqlite'
import { chmodSync, copyFileSync, existsSync } from 'node:fs'
import { reasonOf } from '../base/reason.ts'
import { openSecrets, secretPath } from '../base/seal.ts'
import { Draft } from '../base/whole-file.ts'
import { makeDataDir } from '../db/data-dir.ts'
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
      if (existsSync(to)) throw alreadyThere(to)
    }
    checkDatabase(file)

    makeDataDir(dataDir)
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
    told = reasonOf(error)
  }
  if (told !== 'ok') throw new Error(`${file} is no sound backup: ${told}`)
}

function place(from: string, to: string): void {
  using draft = new Draft(to)
  copyFileSync(from, draft.path)
  chmodSync(draft.path, 0o600)
  if (!draft.place()) throw alreadyThere(to)
}

function alreadyThere(path: string): Error {
  return new Error(`${path} exists already; a backup is restored into an empty folder`)
}

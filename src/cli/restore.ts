import { Database } from 'bun:sqlite'
import { chmodSync, copyFileSync, existsSync } from 'node:fs'
import { reasonOf } from '../base/reason.ts'
import { openSecrets, secretPath } from '../base/seal.ts'
import { Draft } from '../base/whole-file.ts'
import { makeDataDir } from '../db/data-dir.ts'
import { databasePath, openDb } from '../db/db.ts'
import { command, jsonOption, need, print } from './command.ts'
import { dataOption, serviceConfig } from './settings.ts'

export const restore = command({
  usage: 'steno restore FILE [--json]',
  summary: 'Put a backup, FILE and FILE.key, into an empty data folder.',
  options: { ...jsonOption, ...dataOption },
  async run(positionals, values) {
    const [file] = need(positionals, 'FILE')
    const { dataDir } = serviceConfig(values)
    const pairs = [
      { from: `${file}.key`, to: secretPath(dataDir) },
      { from: file, to: databasePath(dataDir) },
    ]
    for (const { from, to } of pairs) {
      if (!existsSync(from)) throw new Error(`there is no file ${from}; a backup is FILE and FILE.key`)
      if (existsSync(to)) throw alreadyThere(to)
    }
    checkDatabase(file)

    makeDataDir(dataDir, { restoring: true })
    // The file secret.key is restored before the database. Otherwise a server that starts between the two
    // would create a new secret, which cannot decrypt the restored database.
    for (const { from, to } of pairs) place(from, to)
    openSecrets(dataDir)
    openDb(dataDir).close()
    print(
      values,
      { data_dir: dataDir },
      () => `${dataDir}: restored; unfinished jobs continue at the next start`,
    )
  },
})

function checkDatabase(file: string): void {
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
  if (result !== 'ok') throw new Error(`${file} is no sound backup: ${result}`)
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

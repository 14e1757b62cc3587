import { chmodSync, constants, copyFileSync, existsSync } from 'node:fs'
import { secretPath } from '../base/seal.ts'
import { databasePath, openDb } from '../db/db.ts'
import { type Command, need, print } from './command.ts'
import { configOf } from './settings.ts'

export const backup: Command = {
  usage: 'steno backup FILE [--json]',
  summary:
    'Copy the database into a new file while the service runs, and the key that it needs into FILE.key.',
  options: { json: { type: 'boolean' } },
  async run(positionals, values) {
    const [file = ''] = need(positionals, 'FILE')
    const key = `${file}.key`
    const { dataDir } = configOf()
    if (!existsSync(databasePath(dataDir))) throw new Error(`there is no database in ${dataDir}`)
    for (const each of [file, key]) if (existsSync(each)) throw new Error(`${each} exists already`)

    const previous = process.umask(0o077)
    const db = openDb(dataDir)
    try {
      db.copyTo(file)
    } finally {
      db.close()
      process.umask(previous)
    }
    copyFileSync(secretPath(dataDir), key, constants.COPYFILE_EXCL)
    for (const each of [file, key]) chmodSync(each, 0o600)
    print(values, { file, key_file: key }, () => [
      `${file}: the database`,
      `${key}: the key that seals signing secrets; without it webhooks cannot be signed`,
      `To restore: steno restore ${file}, with an empty data folder. Media is not copied.`,
    ])
  },
}

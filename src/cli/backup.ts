import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { secretPath } from '../base/seal.ts'
import { Draft } from '../base/whole-file.ts'
import { copyDatabase } from '../db/copy.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { print } from './print.ts'
import { dataConfig, recordOptions } from './settings.ts'

export const backup = command({
  usage: 'steno backup FILE [--json]',
  summary:
    'Copy the database into a new file while the service runs, and the key that it needs into FILE.key.',
  options: recordOptions,
  async run(positionals, values) {
    const [file] = need(positionals, 'FILE')
    const key = `${file}.key`
    const { dataDir } = dataConfig(values)
    for (const path of [file, key]) if (existsSync(path)) throw alreadyThere(path)

    writePrivate(file, path => copyDatabase(dataDir, path))
    writePrivate(key, path => copyFileSync(secretPath(dataDir), path))
    print(values, { file, key_file: key }, () => [
      `${file}: the database`,
      `${key}: the key that seals signing secrets; without it webhooks cannot be signed`,
      `To restore: steno restore ${file}, with an empty data folder. Media is not copied.`,
    ])
  },
})

/** Creates a file, and calls `fill` to write it. Only the owner may read the file, even while `fill` is writing it. */
function writePrivate(path: string, fill: (path: string) => void): void {
  using draft = new Draft(path)
  writeFileSync(draft.path, '', { mode: 0o600 })
  fill(draft.path)
  if (!draft.place()) throw alreadyThere(path)
}

function alreadyThere(path: string): Error {
  return new Error(`${path} exists already`)
}

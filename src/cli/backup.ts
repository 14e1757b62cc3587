import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { missingSecret } from '../accounts/signing-secret.ts'
import { diskRefusalOf } from '../base/disk-refusal.ts'
import { readSecret, secretPath } from '../base/seal.ts'
import { shellWord } from '../base/shell-word.ts'
import { visible } from '../base/visible.ts'
import { Draft } from '../base/whole-file.ts'
import { copyDatabase, openCopy } from '../db/copy.ts'
import { refusalOf } from '../db/refusal.ts'
import { whyOutdated } from '../db/standby.ts'
import { need } from './arguments.ts'
import { command, runCommand } from './command.ts'
import { whyForeign } from './foreign-secret.ts'
import { print } from './print.ts'
import { dataConfig, recordOptions } from './settings.ts'
import { terminal } from './terminal.ts'
import { writing } from './unwritable.ts'

export const backup = command({
  usage: 'steno backup FILE [--json]',
  summary:
    'Copy the database into a new file while the service runs, and the key that it needs into FILE.key.',
  options: recordOptions,
  async run(positionals, values) {
    const [file] = need(positionals, 'FILE')
    const key = `${file}.key`
    const config = dataConfig(values)
    const { dataDir } = config
    const secret = secretPath(dataDir)
    // The key file is written first: if it cannot be copied, no time is lost on the copy of the database.
    writePrivate([
      { path: key, fill: draft => copySecret(secret, draft) },
      { path: file, fill: draft => copyDatabase(dataDir, draft) },
    ])
    warnOfForeignSecret(file, secret)
    const why = whyOutdated(config)
    if (why !== null) terminal.err(`steno: this backup is old: ${visible(why)}\n`)
    print(values, { file, key_file: key }, () => [
      `${file}: the database`,
      `${key}: the key that seals signing secrets; without it webhooks cannot be signed`,
      `To restore: steno restore ${shellWord(file)}, with an empty data folder. Media is not copied.`,
    ])
  },
})

function copySecret(secret: string, draft: string): void {
  if (!existsSync(secret)) throw missingSecret(secret)
  writeFileSync(draft, readSecret(secret))
}

/**
 * Warns if the copied secret cannot decrypt the copied database. The backup is kept nevertheless, because most columns
 * of the database are not encrypted.
 */
function warnOfForeignSecret(file: string, secret: string): void {
  using copy = openCopy(file)
  const problem = whyForeign(copy, secret)
  if (problem !== null) terminal.err(`steno: steno restore would refuse this backup: ${visible(problem)}\n`)
}

/**
 * The entry point of a child process that copies the database of a server into a shared folder, from which a waiting
 * second server can take over (see db/standby.ts). In the server's own process, the copying would block the event loop.
 */
export async function backupCopy(): Promise<void> {
  process.exitCode = await runCommand({
    called: 'steno backup',
    command: backup,
    args: process.argv.slice(3),
  })
}

type NewFile = { path: string; fill: (draft: string) => void }

/**
 * Creates files, and calls `fill` to write each of them. Only the owner may ever read them. All files are first written
 * as drafts, and then moved to their paths. If one of the files cannot be moved, the moved ones are removed.
 */
function writePrivate(files: readonly NewFile[]): void {
  // The user gave only the path of the database, the last of `files`. It is checked first: if both files have the same
  // problem, the error names this path.
  for (const { path } of files.toReversed()) {
    const folder = dirname(path)
    if (!existsSync(folder)) throw new Error(`there is no folder ${folder} for the backup: create it first`)
    if (existsSync(path)) throw alreadyThere(path)
  }
  using drafts = new DisposableStack()
  const written = files.map(({ path, fill }) => {
    const draft = drafts.use(new Draft(path))
    writing(path, () => writeFileSync(draft.path, '', { mode: 0o600 }))
    try {
      fill(draft.path)
    } catch (error) {
      throw isFull(error) ? new Error(`${path} cannot be written: the disk is full`) : error
    }
    return { path, draft }
  })
  using placed = new DisposableStack()
  for (const { path, draft } of written) {
    if (!draft.place()) throw alreadyThere(path)
    placed.defer(() => rmSync(path, { force: true }))
  }
  // When this function returns, `placed` removes the files that it still lists. All files are at their paths now and
  // must stay, so `move` empties the list.
  placed.move()
}

function isFull(error: unknown): boolean {
  return [refusalOf(error), diskRefusalOf(error)].includes('full')
}

function alreadyThere(path: string): Error {
  return new Error(`${path} exists already`)
}

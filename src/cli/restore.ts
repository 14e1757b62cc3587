import { checkCopy, filesOf, openCopy, placeCopy, requireFree } from '../db/copy.ts'
import { makeDataDir } from '../db/data-dir.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { whyForeign } from './foreign-secret.ts'
import { print } from './print.ts'
import { recordOptions, serviceConfig } from './settings.ts'
import { unwritable } from './unwritable.ts'

export const restore = command({
  usage: 'steno restore FILE [--json]',
  summary: 'Put a backup, FILE and FILE.key, into an empty data folder.',
  options: recordOptions,
  async run(positionals, values) {
    const [file] = need(positionals, 'FILE')
    const { dataDir } = serviceConfig(values)
    const files = filesOf(file, dataDir)
    requireFree(files, dataDir)
    checkCopy(file)
    requireOwnSecret(file)
    makeDataDir(dataDir, { restoring: true })
    try {
      placeCopy(files, dataDir)
    } catch (error) {
      throw unwritable(error, { folder: `the data folder ${dataDir}`, setting: '--data-dir' })
    }
    print(
      values,
      { data_dir: dataDir },
      () => `${dataDir}: restored; unfinished jobs continue at the next start`,
    )
  },
})

function requireOwnSecret(file: string): void {
  using copy = openCopy(file)
  const problem = whyForeign(copy, `${file}.key`)
  if (problem !== null) throw new Error(problem)
}

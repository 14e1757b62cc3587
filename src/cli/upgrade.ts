import { chmodSync, copyFileSync, existsSync, linkSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { isCompiled } from '../base/carried.ts'
import { Draft } from '../base/whole-file.ts'
import { limits } from '../limits.ts'
import { command, need, say, UsageError } from './command.ts'

export const upgrade = command({
  usage: 'steno upgrade --from FILE',
  summary: 'Replace this program by another build, and keep this one as steno.old.',
  options: { from: { type: 'string' } },
  help: { from: 'the new program' },
  async run(positionals, values) {
    need(positionals)
    if (values.from === undefined) throw new UsageError('--from FILE expected')
    const from = resolve(values.from)
    if (!existsSync(from)) throw new Error(`there is no file ${from}`)
    if (!isCompiled()) throw new Error('a checkout is upgraded with git')

    const here = process.execPath
    using draft = new Draft(here)
    copyFileSync(from, draft.path)
    chmodSync(draft.path, 0o755)
    const versions = versionsOf(draft.path)
    if (versions === null) throw new Error(`${from} is no steno for this machine; nothing was changed`)
    rmSync(`${here}.old`, { force: true })
    linkSync(here, `${here}.old`)
    draft.replace()
    say(`${here}: now ${versions.steno} (${versions.commit}); the one before is ${here}.old`)
    say('A running service stays as it was until its restart: systemctl restart steno')
  },
})

/**
 * Runs `program` and returns the version and the commit that it prints. Returns null if the file is not a
 * steno program.
 */
function versionsOf(program: string): { steno: string; commit: string } | null {
  try {
    const { exitCode, stdout } = Bun.spawnSync([program, 'version', '--json'], {
      env: {},
      timeout: limits.versionAnswerMs,
    })
    const { steno, commit } = JSON.parse(stdout.toString()) as Record<string, unknown>
    return exitCode === 0 && typeof steno === 'string' && typeof commit === 'string'
      ? { steno, commit }
      : null
  } catch {
    // The file cannot be executed, or its output is not the output of steno.
    return null
  }
}

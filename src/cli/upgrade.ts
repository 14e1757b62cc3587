import { chmodSync, copyFileSync, existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { isCompiled } from '../base/carried.ts'
import { removeOldDrafts } from '../base/draft-names.ts'
import { mapFile } from '../base/map-file.ts'
import { Draft, linkOrCopy } from '../base/whole-file.ts'
import { limits } from '../limits.ts'
import { need, refuseEmpty } from './arguments.ts'
import { command } from './command.ts'
import { UsageError } from './failure.ts'
import { say } from './print.ts'
import { requireFile } from './readable-file.ts'
import { type Installed, problemOf } from './release.ts'
import { causeOf } from './unwritable.ts'

/**
 * The build (scripts/build.ts) defines both constants. `STENO_RELEASE_KEY` is the public key for the signatures of
 * releases. It is empty in a program that is not a release. `STENO_COMMITTED` is the commit time of this program.
 */
declare const STENO_RELEASE_KEY: string
declare const STENO_COMMITTED: string

export const upgrade = command({
  usage: 'steno upgrade --from FILE [--unsigned]',
  summary: 'Replace this program by another release, and keep this one as steno.old.',
  options: { from: { type: 'string' }, unsigned: { type: 'boolean' } },
  help: {
    from: 'the new program; its signature is FILE.sig',
    unsigned: 'check no signature; only for a program that you built yourself',
  },
  async run(positionals, values) {
    need(positionals)
    refuseEmpty(values, 'from')
    if (values.from === undefined) throw new UsageError('--from FILE expected')
    if (!isCompiled()) throw new Error('a checkout is upgraded with git')
    const isReplaced = await replaceProgram(process.execPath, resolve(values.from), {
      unsigned: values.unsigned === true,
      installed: {
        publicKey: STENO_RELEASE_KEY,
        target: `${process.platform}-${process.arch}`,
        committed: STENO_COMMITTED,
      },
    })
    if (isReplaced)
      say('Restart a running service now (systemctl restart steno). Until then, commands may be refused.')
  },
})

type Check = { unsigned: boolean; installed: Installed }

/**
 * Replaces the program `here` by the file `from`, and keeps the replaced program as a file that ends in `.old`. Prints
 * what was done. Returns false if both files are equal. Throws if the file `from` must not be installed.
 */
export async function replaceProgram(
  here: string,
  from: string,
  { unsigned, installed }: Check,
): Promise<boolean> {
  requireFile(from)
  // The program file has 230 MB, and copying it takes time. The refusals that need no copy therefore come first.
  refuse(from, missingProblem(from, { unsigned, installed }))
  if (isSame(from, here)) {
    say(`${from} is this program already; nothing was changed`)
    return false
  }
  using draft = new Draft(here)
  writeBeside(here, () => {
    // An upgrade that was killed leaves an incomplete copy (a draft), which can be as large as the program.
    removeOldDrafts(dirname(here), basename(here))
    copyFileSync(from, draft.path)
  })
  if (!unsigned) refuse(from, await signatureProblem(from, draft.path, installed))
  chmodSync(draft.path, 0o755)
  const versions = versionsOf(draft.path)
  if (versions === null) throw new Error(`${from} is no steno for this machine; nothing was changed`)
  writeBeside(here, () => {
    using old = new Draft(`${here}.old`)
    linkOrCopy(here, old.path)
    old.replace()
    draft.replace()
  })
  say(`${here}: now ${versions.steno} (${versions.commit}); the one before is ${here}.old`)
  return true
}

/**
 * Calls `write`, which writes files into the folder of the program `here`. If `write` fails, throws an error that names
 * the program.
 */
function writeBeside(here: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    throw new Error(`${here} cannot be replaced: ${causeOf(error)}`, { cause: error })
  }
}

/**
 * Returns true if two files are equal. An upgrade to an equal program must change nothing: it would overwrite the
 * backup of the previous version (a file that ends in `.old`) with a copy of this program.
 */
function isSame(one: string, other: string): boolean {
  return statSync(one).size === statSync(other).size && Buffer.compare(mapFile(one), mapFile(other)) === 0
}

function refuse(from: string, problem: string | null): void {
  if (problem !== null) throw new Error(`${from} ${problem}; nothing was changed`)
}

/**
 * Returns a message if the program file `from` has no signature, or if the running program cannot verify signatures.
 * Otherwise returns null. With the flag --unsigned, no signature is needed. The flag is only for programs that the user
 * built. So if the running program is a release, the flag is refused with a message.
 */
function missingProblem(from: string, { unsigned, installed }: Check): string | null {
  const isRelease = installed.publicKey !== ''
  if (unsigned)
    return isRelease
      ? 'needs a signature: this program is a release, and --unsigned is only for your own builds'
      : null
  if (!isRelease)
    return 'cannot be checked: this program has no key of releases; --unsigned installs it all the same'
  return existsSync(`${from}.sig`) ? null : `has no signature (${from}.sig)`
}

/**
 * Verifies the signature of the program file `from`, which is in the file `from`.sig. The signature must fit the hash
 * of `copy`, the copy of `from` that will be installed. `from` itself is not hashed, because it could still change.
 * Returns the reason why the program must not be installed, or null.
 */
async function signatureProblem(from: string, copy: string, installed: Installed): Promise<string | null> {
  const hasher = new Bun.CryptoHasher('sha256')
  for await (const part of Bun.file(copy).stream()) hasher.update(part)
  return problemOf(readFileSync(`${from}.sig`, 'utf8'), hasher.digest('hex'), installed)
}

/**
 * Runs the file `program`, and returns the version and the commit that it prints. Returns null if it is not a steno
 * program for this machine.
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
    // The file cannot be executed, or does not print what `steno version --json` prints.
    return null
  }
}

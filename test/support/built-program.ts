// Returns the path of the built program. The variable STENO_TEST_PROGRAM may name this program. Otherwise, each test
// process that needs the program builds it once.

import { copyFileSync, linkSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = join(import.meta.dir, '../..')
let built: string | null = null

export function builtProgram(): string {
  const given = process.env.STENO_TEST_PROGRAM
  if (given) return resolve(given)
  built ??= build(join(root, 'dist/steno'))
  return built
}

/**
 * Makes the built program available at the path `to`, for a test that runs, replaces or deletes the program there. `to`
 * is a hard link, because a copy would write 230 MB. If the built program is on another file system, `to` is a copy.
 */
export function placeProgram(to: string): void {
  try {
    linkSync(builtProgram(), to)
  } catch {
    copyFileSync(builtProgram(), to)
  }
}

function build(path: string): string {
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, 'scripts/build.ts', path], { cwd: root })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return path
}

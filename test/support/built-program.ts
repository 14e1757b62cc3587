// Returns the path of the built program. If STENO_TEST_PROGRAM names no program, each test process that needs the
// program builds it once.

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
 * Makes the built program available at `to`, where a test may replace or delete it. `to` is a hard link, because a copy
 * would take 230 MB. On another file system, `to` is a copy.
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

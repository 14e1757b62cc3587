// Returns the built program: the one that STENO_TEST_PROGRAM names, or one that is built once for all tests of a run.

import { join, resolve } from 'node:path'

const root = join(import.meta.dir, '../..')
let built: string | null = null

export function builtProgram(): string {
  const given = process.env.STENO_TEST_PROGRAM
  if (given) return resolve(given)
  built ??= build(join(root, 'dist/steno'))
  return built
}

function build(path: string): string {
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, 'scripts/build.ts', path], { cwd: root })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return path
}

// The C compiler of the native code: Zig, from the Python package index. It is pinned by its hash: each build gives the
// same bytes on every machine.

import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const zig = {
  version: '0.17.1',
  sha256: 'ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54',
}
export const compilerName = `zig ${zig.version}`
export const warnings = [
  ...['-Wall', '-Wextra', '-Wmissing-prototypes', '-Werror'],
  '-Wno-unused-command-line-argument',
]

/** Installs the compiler into the folder `work` if it is missing. Returns its path. */
export function findCompiler(work: string): string {
  const folder = join(work, `zig-${zig.version}`)
  const program = join(folder, 'ziglang/zig')
  if (!existsSync(program)) {
    const list = join(work, 'requirements.txt')
    writeFileSync(list, `ziglang==${zig.version} --hash=sha256:${zig.sha256}\n`)
    const install = ['python3', '-m', 'pip', 'install', '--quiet', '--require-hashes', '--target', folder]
    run([...install, '-r', list], { work })
  }
  const { stdout } = Bun.spawnSync([program, 'version'])
  if (stdout.toString().trim() !== zig.version) throw new Error(`${program} is not version ${zig.version}`)
  return program
}

/** Runs a command in the folder `cwd`. The caches of the compiler are in the folder `work`. */
export function run(
  command: string[],
  { work, cwd = work, env = {} }: { work: string; cwd?: string; env?: Record<string, string> },
): void {
  const caches = { ZIG_GLOBAL_CACHE_DIR: join(work, 'cache'), ZIG_LOCAL_CACHE_DIR: join(work, 'cache') }
  const { exitCode, stderr } = Bun.spawnSync(command, {
    cwd,
    env: { ...process.env, ...caches, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (exitCode !== 0) throw new Error(`${command[0]} failed in ${cwd}: ${stderr}`)
}

/** Copies a program or a library into the checkout. */
export function keep(from: string, to: string): void {
  mkdirSync(join(to, '..'), { recursive: true })
  // A program file cannot be overwritten while the program runs, but it can be removed.
  rmSync(to, { force: true })
  copyFileSync(from, to)
  chmodSync(to, 0o755)
}

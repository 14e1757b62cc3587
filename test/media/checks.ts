// Runs the program of native/media/checks.c, which contains parts of the media program. Tests can call each part alone.

import { join } from 'node:path'

export const checks = join(import.meta.dir, `../../native/linux-${process.arch}/checks`)

/** Runs the test program `checks` with the given stdin. The arguments select one check. Returns the output. */
export function runCheck(args: string[], stdin: Uint8Array | Bun.BunFile): Buffer {
  const { exitCode, stdout, stderr } = Bun.spawnSync([checks, ...args], { stdin })
  if (exitCode !== 0) throw new Error(`checks ${args.join(' ')}: ${stderr}`)
  return stdout
}

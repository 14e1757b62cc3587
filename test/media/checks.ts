// Runs the program that is built from native/media/checks.c. This program contains parts of the media program, so that
// tests can call these parts separately.

import { join } from 'node:path'

export const checks = join(import.meta.dir, `../../native/linux-${process.arch}/checks`)

/**
 * Runs the test program `checks` with the given arguments, which select one check, and with the given bytes on stdin.
 * Returns what the program wrote to stdout.
 */
export function runCheck(args: string[], stdin: Uint8Array | Bun.BunFile): Buffer {
  const { exitCode, stdout, stderr } = Bun.spawnSync([checks, ...args], { stdin })
  if (exitCode !== 0) throw new Error(`checks ${args.join(' ')}: ${stderr}`)
  return stdout
}

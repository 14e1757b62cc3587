// Reads the peak memory of this process.

import { readFileSync } from 'node:fs'

/**
 * Returns VmHWM from /proc. resourceUsage() would be wrong, because a new process inherits the peak of its
 * parent there.
 */
export function peakBytes(): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

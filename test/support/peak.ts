// Reads the peak memory of this process.

import { readFileSync } from 'node:fs'

/** Reads VmHWM. resourceUsage() does not work, because a process inherits its peak from its parent. */
export function peakBytes(): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

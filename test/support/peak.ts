// The peak memory of this process.

import { readFileSync } from 'node:fs'

/** Not resourceUsage(): its peak is inherited from the process that started this one. */
export function peakBytes(): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

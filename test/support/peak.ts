// Reads the peak memory of this process.

import { readFileSync } from 'node:fs'

/**
 * Returns the peak memory of this process in bytes. The value of `process.resourceUsage` would include the peak memory
 * of the parent process.
 */
export function peakBytes(): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

// Finds the number of CPU cores that this process may use. The CPU quota of the cgroup, in the file cpu.max, can be
// lower than the number of cores of the machine.

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

export function allowedCores(): number {
  return Math.max(1, Math.min(availableParallelism(), quotaOf(read('/sys/fs/cgroup/cpu.max'))))
}

/**
 * Returns the number of cores that the file cpu.max of the cgroup allows. `line` is the content of this file, a CPU
 * time and a period: `200000 100000` allows 2 cores. The number is rounded down, but is at least 1. It is infinity if
 * there is no limit (`max 100000`), or if `line` is empty.
 */
export function quotaOf(line: string): number {
  const [quota, period] = line.trim().split(/\s+/).map(Number)
  return quota && period ? Math.max(1, Math.floor(quota / period)) : Number.POSITIVE_INFINITY
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

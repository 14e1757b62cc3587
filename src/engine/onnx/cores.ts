// Finds the number of CPU cores that this process may use. The CPU quota in the cgroup file cpu.max can be lower than
// the number of cores.

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** `quota` is the content of the cgroup file cpu.max, or an empty text if there is no such file. */
export function allowedCores(quota = read('/sys/fs/cgroup/cpu.max')): number {
  return Math.max(1, Math.min(availableParallelism(), coresOf(quota)))
}

/**
 * Returns the number of cores that the cgroup file cpu.max allows. `line` is the content of this file, a CPU time and a
 * period: `200000 100000` allows 2 cores. The result is rounded down, but at least 1, and is infinity if there is no
 * limit or if `line` is empty.
 */
function coresOf(line: string): number {
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

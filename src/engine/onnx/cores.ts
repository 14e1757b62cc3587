// How many cores this process may use: what the control group allows, not what the machine has.

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

export function allowedCores(): number {
  return Math.max(1, Math.min(availableParallelism(), quotaOf(read('/sys/fs/cgroup/cpu.max'))))
}

/** `200000 100000` is two cores' worth of time, `max 100000` no limit. */
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

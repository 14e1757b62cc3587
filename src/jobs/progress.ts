// Progress as sentences for people, told no more often than they can read.

import { formatSize } from '../base/units.ts'
import { limits } from '../limits.ts'

/** Passes on at most one sentence in a while. */
export function throttled(tell: (progress: string) => void): (progress: string) => void {
  let toldAt = Number.NEGATIVE_INFINITY
  return progress => {
    const now = performance.now()
    if (now - toldAt < limits.progressEveryMs) return
    toldAt = now
    tell(progress)
  }
}

export function downloadProgress(tell: (progress: string) => void) {
  const told = throttled(tell)
  return (bytes: number, total: number | null) =>
    told(
      total
        ? `Downloading, ${formatSize(bytes)} of ${formatSize(total)}`
        : `Downloading, ${formatSize(bytes)}`,
    )
}

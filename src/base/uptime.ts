// A clock for timeouts. If the machine or the process was suspended, the clock counts only a small part of this time.

/**
 * Returns a function that reads the clock, in milliseconds since this call. Callers must read the clock at least once
 * every `stepMsMax` milliseconds. If more time has passed since the last reading, the process was suspended, and the
 * clock counts only `stepMsMax` milliseconds.
 */
export function openUptime(monotonic: () => number, { stepMsMax }: { stepMsMax: number }): () => number {
  let uptime = 0
  let last = monotonic()
  return () => {
    const now = monotonic()
    uptime += Math.min(now - last, stepMsMax)
    last = now
    return uptime
  }
}

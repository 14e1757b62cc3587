// A clock for timeouts. It leaves out the time for which the machine or the process was suspended.

/**
 * Returns a function that reads the clock, in milliseconds since it was opened. The clock must be read at least once
 * every `stepMsMax`. If more time has passed since the last reading, the process was suspended, and only `stepMsMax`
 * is counted.
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

// A clock for timeouts: its time passes only while the process runs.

/**
 * Returns a function that reads the clock, in milliseconds since the clock was opened. The caller must read
 * the clock at least once every `stepMsMax`. If more time has passed since the last reading, the machine or
 * the process was suspended, and only `stepMsMax` is counted.
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

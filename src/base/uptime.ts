// The clock of timeouts: its time passes only while the process runs.

/**
 * Returns a clock in milliseconds since the start. It must be read at least every `stepMsMax`. A longer step of the
 * monotonic clock means that the machine or the process was suspended; it counts as `stepMsMax`.
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

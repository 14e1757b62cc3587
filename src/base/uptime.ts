// A clock for timeouts. It counts only a small part of the time in which the machine or the process was suspended.

/**
 * Returns a clock that counts milliseconds since this call. Callers must read the clock at least once every `stepMsMax`
 * milliseconds. A longer time between two reads means that the process was suspended, and counts as `stepMsMax`.
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

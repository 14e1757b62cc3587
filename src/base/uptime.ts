// Time that counts towards timeouts: it passes only while the process runs.

/**
 * Gives milliseconds since the start. Must be called at least every `stepMsMax`: a longer step of the monotonic clock
 * means that the machine or the process was suspended, and counts as one of `stepMsMax`.
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

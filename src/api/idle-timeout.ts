// The idle timeout of HTTP connections.

import type { Config } from '../config.ts'

/**
 * The interval, in seconds, at which Bun looks for idle connections. Bun may close a connection too early, by up to
 * this time.
 */
const earlySeconds = 4

/**
 * Returns the idle timeout for Bun, in seconds. It is `earlySeconds` longer than the configured time, because Bun may
 * close a connection `earlySeconds` too early. Bun accepts at most 255 seconds. The setting STENO_REQUEST_IDLE is
 * therefore at most 251 seconds.
 */
export function idleSeconds({ requestIdleMs }: Pick<Config, 'requestIdleMs'>): number {
  return requestIdleMs / 1000 + earlySeconds
}

/** The part of Bun's server that sets the idle timeout of a connection. Null if the app has no server. */
export type IdleTimer = { timeout(request: Request, seconds: number): void } | null

/**
 * Switches off Bun's idle timeout for the connection of a request, which can be silent for a long time. Returns a
 * function that switches the timeout on again. The caller must call this function at the end of the response:
 * otherwise, an unused connection stays open for ever. If `msMax` is given, the timeout is switched on after this time
 * at the latest.
 */
export function pauseIdleTimeout(
  config: Pick<Config, 'requestIdleMs'>,
  server: IdleTimer,
  request: Request,
  msMax?: number,
): () => void {
  const resume = () => server?.timeout(request, idleSeconds(config))
  server?.timeout(request, 0)
  if (msMax === undefined) return resume
  const timer = setTimeout(resume, msMax)
  timer.unref()
  return () => {
    clearTimeout(timer)
    resume()
  }
}

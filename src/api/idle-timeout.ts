// The idle timeout of HTTP connections.

import type { Config } from '../config.ts'

/**
 * The interval, in seconds, at which Bun checks which connections are idle. Bun counts the idle time in such intervals.
 * So it may close an idle connection before the timeout is over: up to this many seconds too early.
 */
const earlySeconds = 4

/**
 * Returns the idle timeout for Bun, in seconds: the idle time of the configuration plus four seconds. Bun may close an
 * idle connection up to four seconds before its timeout, because it checks the connections only every four seconds. The
 * four extra seconds guarantee the full idle time of the configuration. Bun accepts a timeout of at most 255 seconds,
 * so the configuration allows at most 251.
 */
export function idleSeconds({ requestIdleMs }: Pick<Config, 'requestIdleMs'>): number {
  return requestIdleMs / 1000 + earlySeconds
}

/** The part of Bun's server that sets the idle timeout of a connection. It is null if there is no connection. */
export type IdleTimer = { timeout(request: Request, seconds: number): void } | null

/**
 * Switches off Bun's idle timeout for the connection of a request, because this connection may carry no bytes for a
 * long time. Returns a function that switches the timeout on again, which must be called at the end of the response.
 * Otherwise, the connection of a client that sends no further request would stay open for ever. If `msMax` is given,
 * the timeout is switched on again after this time at the latest.
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

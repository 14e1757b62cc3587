// The idle timeout of HTTP connections.

import type { Config } from '../config.ts'

/**
 * Bun looks at the connections once in this many seconds, so it closes an idle connection up to this many seconds too
 * early.
 */
const earlySeconds = 4
/** The longest idle timeout that Bun accepts, in seconds. */
const longest = 255

/**
 * Returns the idle timeout for Bun, in seconds. Bun then closes a connection up to four seconds after the idle time of the
 * configuration, and never before, unless the idle time is longer than 251 seconds.
 */
export function idleSeconds({ requestIdleMs }: Pick<Config, 'requestIdleMs'>): number {
  return Math.min(longest, requestIdleMs / 1000 + earlySeconds)
}

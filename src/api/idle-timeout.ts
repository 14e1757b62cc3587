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
 * Returns the idle timeout for Bun, in seconds. It is four seconds longer than the idle time of the configuration, so Bun
 * never closes a connection before this idle time, and at most four seconds after it. With an idle time of more than 251
 * seconds, Bun may close a connection before it, because Bun accepts at most 255 seconds.
 */
export function idleSeconds({ requestIdleMs }: Pick<Config, 'requestIdleMs'>): number {
  return Math.min(longest, requestIdleMs / 1000 + earlySeconds)
}

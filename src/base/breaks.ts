// Breaks in long work, so that the server can handle other events. For example, a client can send a body in chunks of
// one byte. The server reads all chunks that have arrived before it returns to the event loop. Without breaks, a few
// such clients would block the event loop for 20 s.

import { limits } from '../limits.ts'
import { nextTurn } from './next-turn.ts'

/**
 * Returns a function that must be called after each chunk or step. If the last break was at least `breakEveryMs` ago,
 * the function waits until the event loop has handled other events.
 */
export function openBreaks(): () => Promise<void> {
  let lastAt = performance.now()
  return async () => {
    if (performance.now() - lastAt < limits.breakEveryMs) return
    await nextTurn()
    lastAt = performance.now()
  }
}

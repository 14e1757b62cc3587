// Breaks in long work, in which the server handles other events. A client, for example, can send a body in chunks of one
// byte. Chunks that have arrived are read without a return to the event loop. Without breaks, a few such bodies would
// therefore block it for 20 s.

import { limits } from '../limits.ts'
import { nextTurn } from './next-turn.ts'

/**
 * Returns a function that must be called after each chunk or step. If the last break was `breakEveryMs` ago, the
 * function waits until the event loop has handled other events.
 */
export function openBreaks(): () => Promise<void> {
  let lastAt = performance.now()
  return async () => {
    if (performance.now() - lastAt < limits.breakEveryMs) return
    await nextTurn()
    lastAt = performance.now()
  }
}

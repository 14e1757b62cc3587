// Reads the body of a response, and detects a body that stalls.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/**
 * A response has stalled if fewer than `bytesMin` bytes arrive in a period of `stallMs` milliseconds, and the reader
 * waits for bytes at the end of the period.
 */
export type Stall = { stallMs: number; bytesMin: number }

export type BodyEnd = 'complete' | 'interrupted' | 'stalled'

export async function readBody(
  response: IncomingMessage,
  socket: Socket,
  take: (bytes: Uint8Array) => Promise<void>,
  { stallMs, bytesMin }: Stall,
  signal: AbortSignal,
): Promise<BodyEnd> {
  let stalled = false
  let waiting = true
  let bytesInWindow = 0
  const hangUp = () => response.destroy()
  const window = setInterval(() => {
    stalled = waiting && bytesInWindow < bytesMin
    bytesInWindow = 0
    if (stalled) hangUp()
  }, stallMs)
  signal.addEventListener('abort', hangUp, { once: true })
  try {
    signal.throwIfAborted()
    const chunks = response[Symbol.asyncIterator]()
    for (;;) {
      const chunk = await chunks.next().catch(() => null)
      signal.throwIfAborted()
      if (stalled) return 'stalled'
      if (chunk === null) return 'interrupted'
      if (chunk.done) return response.complete ? 'complete' : 'interrupted'
      bytesInWindow += chunk.value.length
      waiting = false
      await take(chunk.value)
      waiting = true
    }
  } finally {
    clearInterval(window)
    signal.removeEventListener('abort', hangUp)
    response.destroy()
    socket.destroy()
  }
}

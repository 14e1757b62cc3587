// Reads the body of a response, and detects a body that stalls.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/**
 * A response has stalled if fewer than `bytesMin` bytes arrive while the reader waits for `stallMs` milliseconds in
 * total. The time in which the reader is busy does not count.
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
  let waitedMs = 0
  let bytesMeanwhile = 0
  const hangUp = () => response.destroy()
  const stall = () => {
    stalled = true
    hangUp()
  }
  signal.addEventListener('abort', hangUp, { once: true })
  try {
    signal.throwIfAborted()
    const chunks = response[Symbol.asyncIterator]()
    for (;;) {
      const began = performance.now()
      const timer = setTimeout(stall, stallMs - waitedMs)
      const chunk = await chunks.next().catch(() => null)
      clearTimeout(timer)
      signal.throwIfAborted()
      if (stalled) return 'stalled'
      if (chunk === null) return 'interrupted'
      if (chunk.done) return response.complete ? 'complete' : 'interrupted'
      waitedMs += performance.now() - began
      bytesMeanwhile += chunk.value.length
      if (bytesMeanwhile >= bytesMin) waitedMs = bytesMeanwhile = 0
      await take(chunk.value)
    }
  } finally {
    signal.removeEventListener('abort', hangUp)
    response.destroy()
    socket.destroy()
  }
}

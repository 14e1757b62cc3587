// A TCP proxy that simulates a broken or slow network. It cuts all connections, drops their bytes, or forwards the
// bytes late.

import { connect, createServer, type Socket } from 'node:net'

export type LossyProxy = {
  port: number
  /** Cuts all open connections. Later connections work. */
  cut(): void
  /** Drops all bytes for `ms` milliseconds, and then cuts all connections. */
  swallow(ms: number): Promise<void>
  /**
   * Keeps the bytes that the server sends, until the returned function is called. The kept bytes of each connection
   * then arrive together.
   */
  hold(): () => void
  close(): void
}

/**
 * Receives all bytes before the proxy forwards or drops them. `from` is the sender: the client (`caller`) or the server
 * (`target`).
 */
type OnData = (from: 'caller' | 'target', bytes: Uint8Array) => void

export async function startLossyProxy(target: number, onData: OnData = () => {}): Promise<LossyProxy> {
  const sockets = new Set<Socket>()
  let isSwallowing = false
  let held: Map<Socket, Uint8Array[]> | null = null
  const server = createServer(near => {
    const far = connect(target, '127.0.0.1')
    for (const [from, one, other] of [
      ['caller', near, far],
      ['target', far, near],
    ] as const) {
      sockets.add(one)
      one.on('data', bytes => {
        if (!Buffer.isBuffer(bytes)) return
        onData(from, bytes)
        if (isSwallowing || other.destroyed) return
        if (held && from === 'target') held.set(other, [...(held.get(other) ?? []), bytes])
        else other.write(bytes)
      })
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    cut,
    async swallow(ms) {
      isSwallowing = true
      await Bun.sleep(ms)
      isSwallowing = false
      cut()
    },
    hold() {
      const kept = new Map<Socket, Uint8Array[]>()
      held = kept
      return () => {
        held = null
        for (const [socket, parts] of kept) socket.write(Buffer.concat(parts))
      }
    },
    close() {
      cut()
      server.close()
    },
  }
}

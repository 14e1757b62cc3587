// Messages to systemd: that the service is ready, that it lives, that it stops. Without systemd they go nowhere.

import { ptr } from 'bun:ffi'
import { closeSync, writeSync } from 'node:fs'
import { systemCall } from './libc.ts'

export type Systemd = {
  /** From now on the service is reported as alive, in half the time that systemd would wait. */
  ready(): void
  stopping(): void
}

type Environment = Record<string, string | undefined>

export function openSystemd({ NOTIFY_SOCKET: path, WATCHDOG_USEC: limit }: Environment): Systemd {
  const tell = (state: string) => path && send(path, state)
  const watchdogMs = Number(limit ?? 0) / 1000
  let alive: Timer | undefined
  return {
    ready() {
      tell('READY=1')
      if (watchdogMs > 0) alive = setInterval(() => tell('WATCHDOG=1'), watchdogMs / 2).unref()
    },
    stopping() {
      clearInterval(alive)
      tell('STOPPING=1')
    },
  }
}

/** Bun has no datagram sockets with a path. A message that cannot be sent is lost. */
function send(path: string, state: string): void {
  const unix = 1
  const datagram = 2
  const nonBlocking = 0o4000
  const socket = systemCall('socket', unix, datagram | nonBlocking, 0)
  if (socket < 0) return
  try {
    const address = addressOf(path)
    if (systemCall('connect', socket, ptr(address), address.length) === 0) writeSync(socket, state)
  } catch {
    // The queue of the receiver is full.
  } finally {
    closeSync(socket)
  }
}

/** struct sockaddr_un. A name that begins with @ is no path: it begins with a zero. */
export function addressOf(path: string): Uint8Array {
  const family = [1, 0]
  const name = new TextEncoder().encode(path.replace(/^@/, '\0'))
  return Uint8Array.from([...family, ...name, ...(path.startsWith('@') ? [] : [0])])
}

// Informs systemd when the service is ready, alive or stopping. Sends nothing without systemd.

import { ptr } from 'bun:ffi'
import { closeSync, writeSync } from 'node:fs'
import { systemCall } from './system-call.ts'

export type Systemd = {
  /** Reports that the service is ready. After that, sends two heartbeats in each interval of systemd's watchdog. */
  ready(): void
  /** Reports that the service is stopping, and ends the heartbeat. */
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
      if (watchdogMs > 0) alive ??= setInterval(() => tell('WATCHDOG=1'), watchdogMs / 2).unref()
    },
    stopping() {
      clearInterval(alive)
      tell('STOPPING=1')
    },
  }
}

/**
 * Sends a message to the socket at `path`. Uses system calls, because Bun has no datagram sockets with a path. A
 * message can be lost, because errors are ignored.
 */
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
    // The message is lost, for example because the queue of systemd's socket is full.
  } finally {
    closeSync(socket)
  }
}

/**
 * Returns the bytes of the structure sockaddr_un for a path. A path that begins with @ is the name of an abstract
 * socket, which begins with a zero byte.
 */
export function addressOf(path: string): Uint8Array {
  const family = [1, 0]
  const name = new TextEncoder().encode(path.replace(/^@/, '\0'))
  return Uint8Array.from([...family, ...name, ...(path.startsWith('@') ? [] : [0])])
}

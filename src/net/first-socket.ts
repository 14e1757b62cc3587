// Tries to connect to several IP addresses, and uses the first connection that succeeds.

import { connect as dial, type Socket } from 'node:net'
import { limits } from '../limits.ts'
import { beforeStop } from './before-stop.ts'

/**
 * Connects by the Happy Eyeballs algorithm (RFC 8305). If one attempt fails or is slow, the next address is tried too.
 * Returns the first socket that connects. Returns null if no socket connects, or after `stop` is aborted.
 */
export async function firstToConnect(
  addresses: string[],
  port: number,
  stop: AbortSignal,
): Promise<Socket | null> {
  const attempts = new Set<Socket>()
  const waiting = [...addresses]
  const { promise, resolve } = Promise.withResolvers<Socket | null>()
  let headStart: ReturnType<typeof setTimeout> | undefined
  const tryNext = () => {
    clearTimeout(headStart)
    const address = waiting.shift()
    if (address === undefined) {
      if (attempts.size === 0) resolve(null)
      return
    }
    const socket = dial({ host: address, port })
    attempts.add(socket)
    socket.once('connect', () => resolve(socket))
    socket.on('error', () => {
      attempts.delete(socket)
      tryNext()
    })
    headStart = setTimeout(tryNext, limits.connectNextAfterMs)
  }
  tryNext()
  const winner = await beforeStop(promise, stop)
  clearTimeout(headStart)
  waiting.length = 0
  for (const socket of attempts) if (socket !== winner) socket.destroy()
  return winner
}

// Tests the notifications to systemd, with a socket in place of systemd's socket. The test uses system calls, because
// Bun cannot open a datagram socket with a path.

import { ptr } from 'bun:ffi'
import { expect, jest, test } from 'bun:test'
import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { systemCall } from '../../src/base/system-call.ts'
import { addressOf, openSystemd } from '../../src/base/systemd.ts'
import { temporaryFolder } from '../support/folder.ts'

/**
 * Opens a socket with the name `path`. A name that begins with @ is abstract: it has no file. `next` returns the next
 * message, and throws EAGAIN if there is none. It need not wait: when the system call that sends a message returns, the
 * message is already in this socket.
 */
function listen(path: string) {
  const unix = 1
  const datagram = 2
  const nonBlocking = 0o4000
  const socket = systemCall('socket', unix, datagram | nonBlocking, 0)
  const address = addressOf(path)
  expect(systemCall('bind', socket, ptr(address), address.length)).toBe(0)
  return {
    next: () => {
      const bytes = Buffer.alloc(100)
      return bytes.toString('utf8', 0, readSync(socket, bytes))
    },
    [Symbol.dispose]: () => closeSync(socket),
  }
}

test.each([
  ['a path', () => join(temporaryFolder(), 'notify')],
  ['an abstract name', () => `@steno-test-${process.pid}`],
])('systemd is told at %s that the service is ready and that it stops', (_, place) => {
  const path = place()
  using socket = listen(path)
  const systemd = openSystemd({ NOTIFY_SOCKET: path })
  systemd.ready()
  systemd.stopping()
  expect([socket.next(), socket.next()]).toEqual(['READY=1', 'STOPPING=1'])
})

test('the service sends a heartbeat to systemd at half the interval of its watchdog, until it stops', () => {
  const path = join(temporaryFolder(), 'notify')
  using socket = listen(path)
  const systemd = openSystemd({ NOTIFY_SOCKET: path, WATCHDOG_USEC: '20000' })
  const unwatched = openSystemd({ NOTIFY_SOCKET: path })
  jest.useFakeTimers()
  try {
    systemd.ready()
    jest.advanceTimersByTime(25)
    systemd.stopping()
    unwatched.ready()
    jest.advanceTimersByTime(25)
    unwatched.stopping()
  } finally {
    jest.useRealTimers()
  }
  const expected = ['READY=1', 'WATCHDOG=1', 'WATCHDOG=1', 'STOPPING=1', 'READY=1', 'STOPPING=1']
  expect(expected.map(() => socket.next())).toEqual(expected)
})

test('the name of a file ends with a zero byte, and an abstract name begins with one', () => {
  expect([...addressOf('/a')]).toEqual([1, 0, 47, 97, 0])
  expect([...addressOf('@a')]).toEqual([1, 0, 0, 97])
})

test('without systemd, or when its socket is gone, messages are dropped', () => {
  for (const environment of [{}, { NOTIFY_SOCKET: join(temporaryFolder(), 'gone') }]) {
    const systemd = openSystemd(environment)
    systemd.ready()
    systemd.stopping()
  }
})

// Tests the notifications to systemd, with a socket in place of systemd's socket. The test uses system calls, because
// Bun cannot open a datagram socket with a path.

import { ptr } from 'bun:ffi'
import { expect, test } from 'bun:test'
import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { systemCall } from '../../src/base/system-call.ts'
import { addressOf, openSystemd } from '../../src/base/systemd.ts'
import { temporaryFolder } from '../support/folder.ts'

/** Opens a blocking socket with the name `path`. A name that begins with @ is abstract: it has no file. */
function listen(path: string) {
  const unix = 1
  const datagram = 2
  const socket = systemCall('socket', unix, datagram, 0)
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

test('the service sends a heartbeat to systemd at half the interval of its watchdog', async () => {
  const path = join(temporaryFolder(), 'notify')
  using socket = listen(path)
  const systemd = openSystemd({ NOTIFY_SOCKET: path, WATCHDOG_USEC: '20000' })
  systemd.ready()
  await Bun.sleep(15)
  systemd.stopping()
  expect([socket.next(), socket.next()]).toEqual(['READY=1', 'WATCHDOG=1'])
})

test('without systemd, or when its socket is gone, messages are dropped', () => {
  for (const environment of [{}, { NOTIFY_SOCKET: join(temporaryFolder(), 'gone') }]) {
    const systemd = openSystemd(environment)
    systemd.ready()
    systemd.stopping()
  }
})

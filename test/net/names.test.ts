// Tests the resolution of host names: by name servers that the test starts, and by the hosts file.

import { afterEach, expect, test } from 'bun:test'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../src/limits.ts'
import { openNames } from '../../src/net/names.ts'
import { temporaryFolder } from '../support/folder.ts'
import {
  a,
  aaaa,
  type NameServer,
  startNameServer as startAnywhere,
  type Zone,
} from '../support/name-server.ts'

const servers: NameServer[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function startNameServer(zone: Zone): Promise<NameServer> {
  const server = await startAnywhere(zone)
  servers.push(server)
  return server
}

test('silent name servers block neither file writes nor other look-ups', async () => {
  const server = await startNameServer({ 'good.test': { [a]: [[192, 0, 2, 7]] } })
  const resolve = openNames({ servers: [server.address] })
  const silent = Array.from({ length: 64 }, (_, i) => resolve(`slow${i}.silent`))
  let isSilent = true
  void Promise.race(silent).then(() => (isSilent = false))

  const path = join(temporaryFolder(), 'file')
  await writeFile(path, new Uint8Array(64 * 1024))
  expect((await readFile(path)).length).toBe(64 * 1024)
  expect(await resolve('good.test')).toEqual(['192.0.2.7'])
  expect(isSilent).toBe(true)
  expect(server.asked.size).toBe(65)

  const started = performance.now()
  expect((await Promise.all(silent)).flat()).toEqual([])
  expect(performance.now() - started).toBeLessThan(limits.resolveTimeoutMs + 1000)
}, 10_000)

test('silent names of one account do not block the names of another', async () => {
  const server = await startNameServer({ 'good.test': { [a]: [[192, 0, 2, 7]] } })
  const resolve = openNames({ servers: [server.address], resolvesMax: 4 })
  for (let count = 0; count < 8; count++) void resolve(`slow${count}.silent`, 'mallory')
  void resolve('good.test', 'mallory')
  expect(await resolve('good.test', 'ana')).toEqual(['192.0.2.7'])
  expect(server.asked.size).toBe(4)
})

test('the addresses of both protocols alternate', async () => {
  const six = [...new Array<number>(15).fill(0), 1]
  const server = await startNameServer({
    'both.test': {
      [a]: [
        [192, 0, 2, 1],
        [192, 0, 2, 2],
      ],
      [aaaa]: [[0x20, 0x01, 0x0d, 0xb8, ...six.slice(4)]],
    },
  })
  const resolve = openNames({ servers: [server.address] })
  const found = await resolve('Both.Test.')
  expect(found.toSorted()).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1'])
  expect(found[1]).toBe('2001:db8::1')
})

test('an unknown name is cached for a while', async () => {
  const server = await startNameServer({})
  let nowMs = 0
  const resolve = openNames({ servers: [server.address], now: () => nowMs })
  expect(await resolve('none.test')).toEqual([])
  const asked = server.questions
  nowMs = limits.unknownNameMs - 1
  expect(await resolve('none.test')).toEqual([])
  expect(server.questions).toBe(asked)
  nowMs = limits.unknownNameMs
  expect(await resolve('none.test')).toEqual([])
  expect(server.questions).toBeGreaterThan(asked)
})

test('concurrent look-ups of one name are sent once', async () => {
  const server = await startNameServer({ 'good.test': { [a]: [[192, 0, 2, 7]] } })
  const resolve = openNames({ servers: [server.address] })
  const found = await Promise.all(Array.from({ length: 20 }, () => resolve('good.test')))
  expect(new Set(found.flat())).toEqual(new Set(['192.0.2.7']))
  expect(server.questions).toBe(2)
})

test('the hosts file and localhost take precedence over name servers', async () => {
  const server = await startNameServer({ 'box.test': { [a]: [[192, 0, 2, 7]] } })
  const hostsFile = join(temporaryFolder(), 'hosts')
  await writeFile(
    hostsFile,
    '# box\n10.0.0.1\tBox.Test box # the box\nfd00::1 box.test\nno-address box.test\n',
  )
  const resolve = openNames({ servers: [server.address], hostsFile })
  expect(await resolve('box.test')).toEqual(['10.0.0.1', 'fd00::1'])
  expect(await resolve('box')).toEqual(['10.0.0.1'])
  expect(await resolve('localhost')).toEqual(['127.0.0.1', '::1'])
  expect(await resolve('a.localhost')).toEqual(['127.0.0.1', '::1'])
  expect(server.questions).toBe(0)
  expect(await openNames({ servers: [server.address], hostsFile: '/nowhere' })('box.test')).toEqual([
    '192.0.2.7',
  ])
})

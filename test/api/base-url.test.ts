// Tests the base URL in responses. It depends on the listen address of the service and on the Host header.

import { expect, test } from 'bun:test'
import { hostname, networkInterfaces } from 'node:os'
import { openBaseUrl } from '../../src/api/base-url.ts'
import { defaults } from '../support/defaults.ts'
import { startTestService, steered } from '../support/service.ts'

const hasIpv6 = Object.values(networkInterfaces()).some(all => all?.some(({ address }) => address === '::1'))
const own = `http://${hostname()}:8080`.toLowerCase()

const asked: [host: string, header: string | null, baseUrl: string][] = [
  ['127.0.0.1', 'box.example', 'http://127.0.0.1:8080'],
  ['::1', 'box.example', 'http://[::1]:8080'],
  ['127.0.0.1', 'localhost:9000', 'http://localhost:9000'],
  ['127.0.0.1', '127.0.0.1:9000', 'http://127.0.0.1:9000'],
  ['127.0.0.1', 'localhost.example', 'http://127.0.0.1:8080'],
  ['::1', '[::1]:9000', 'http://[::1]:9000'],
  ['192.0.2.7', 'localhost:9000', 'http://192.0.2.7:8080'],
  ['0.0.0.0', 'box.example', 'http://box.example'],
  ['0.0.0.0', 'Box.Example:9000', 'http://box.example:9000'],
  ['::', '[fd00::1]:9000', 'http://[fd00::1]:9000'],
  ['::', '192.0.2.7', 'http://192.0.2.7'],
  ['0:0:0:0:0:0:0:0', 'box', 'http://box'],
  ['::', null, own],
  ['::', 'a b', own],
  ['::', 'box.example/path', own],
  ['::', 'user@box.example', own],
  ['::', 'box.example:99999', own],
  ['::', '<script>', own],
  ['::', '[::1', own],
  ['::', '.', own],
]

test.each(asked)('a service on %s that is asked as %p is %s', (host, header, baseUrl) => {
  const request = new Request('http://x/', { headers: header === null ? {} : { Host: header } })
  const baseUrlOf = openBaseUrl({ ...defaults, baseUrl: null, host }, () => 8080)
  expect(baseUrlOf(request).toLowerCase()).toBe(baseUrl)
})

test('a mail never has the address that a request named', () => {
  expect(openBaseUrl({ ...defaults, baseUrl: null, host: '::' }, () => 8080)().toLowerCase()).toBe(own)
})

test('the base address of the settings goes before all', () => {
  const baseUrl = 'https://steno.example'
  const request = new Request('http://x/', { headers: { Host: 'box.example' } })
  expect(openBaseUrl({ ...defaults, baseUrl, host: '::' }, () => 8080)(request)).toBe(baseUrl)
})

test('the document and the docs for one caller do not name the address that another caller used', async () => {
  const service = await startTestService({ settings: { STENO_HOST: '0.0.0.0' }, alone: true })
  for (const path of ['/v1/openapi.json', '/docs'])
    for (const host of ['one.example', 'other.example', 'one.example']) {
      const { text } = await service.fetch(path, { headers: { Host: host } })
      const named = text.match(/http:\/\/(one|other)\.example/g)
      expect([path, new Set(named)]).toEqual([path, new Set([`http://${host}`])])
    }
})

const ipv6 = hasIpv6 ? steered : test.skip
ipv6.each(['::', '::1', '[::1]', '[::]'])('a service listens on %s', async host => {
  const service = await startTestService({ settings: { STENO_HOST: host } })
  const port = new URL(service.url).port
  const ana = service.account('ana')
  for (const asHost of host.includes('1') ? ['[::1]'] : ['[::1]', '127.0.0.1']) {
    const base = `http://${asHost}:${port}`
    const answer = await (await fetch(`${base}/v1`)).json()
    expect(answer).toMatchObject({ base_url: base, docs_url: `${base}/docs` })
    const { upload_url } = (
      await ana.post('/v1/upload', { filename: 'a.wav' }, { Host: `${asHost}:${port}` })
    ).body
    expect(upload_url).toStartWith(`${base}/v1/upload/`)
    expect(await (await fetch(`${base}/v1/openapi.json`)).json()).toMatchObject({ servers: [{ url: base }] })
  }
})

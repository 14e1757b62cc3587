// Tests the responses that deliver the files of the web app, and the setting that switches the web app off.

import { expect, test } from 'bun:test'
import { shareServices, startTestService } from '../support/service.ts'

shareServices()

const html = { headers: { Accept: 'text/html,application/xhtml+xml', 'Accept-Encoding': 'identity' } }
const service = await startTestService()

const addresses = [
  '/',
  '/register',
  '/jobs',
  '/jobs/019a9f6e-0000-7000-8000-000000000000',
  '/search',
  '/keys',
  '/balance',
  '/webhooks',
  '/apps',
  '/account',
  '/operator',
]

test.each(addresses)('%s answers with the page under a strict policy', async address => {
  const { status, headers, text } = await service.fetch(address, html)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/html;charset=utf-8')
  const policy = headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'")
  expect(policy).not.toContain('unsafe')
  expect(headers.get('cache-control')).toBe('no-cache')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(text).toContain('<noscript>')
  // The content security policy blocks inline scripts and styles, so the page must have none.
  expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/)
})

test('a caller that does not ask for HTML is redirected from / to /docs', async () => {
  const { status, headers } = await service.fetch('/', { headers: { Accept: 'application/json' } })
  expect([status, headers.get('location')]).toEqual([302, `${service.url}/docs`])
})

test('the files of the page are compressed, kept for ever, and have names with a hash', async () => {
  const { text } = await service.fetch('/', html)
  const names = [...text.matchAll(/"\/assets\/([^"]+)"/g)].map(([, name]) => name)
  expect(names.map(name => name?.split('.').at(-1)).toSorted()).toEqual(['css', 'js', 'svg'])
  for (const name of names) {
    const codings = ['br', 'gzip', 'identity']
    const [br, gzip, plain] = await Promise.all(codings.map(coding => read(`/assets/${name}`, coding)))
    expect(br).toMatchObject({ status: 200, coding: 'br', cache: 'public, max-age=31536000, immutable' })
    expect(gzip).toMatchObject({ coding: 'gzip', text: br?.text })
    expect(plain).toMatchObject({ coding: null, text: br?.text })
  }
})

test('a coding with the weight zero is not used', async () => {
  expect(await read('/', 'br;q=0, gzip;q=0.5')).toMatchObject({ coding: 'gzip' })
})

test('a page that the browser has is not sent again', async () => {
  const { headers } = await service.fetch('/jobs', html)
  const etag = headers.get('etag') ?? ''
  const again = await service.fetch('/jobs', { headers: { 'If-None-Match': etag } })
  expect([again.status, again.text]).toEqual([304, ''])
})

test('an unknown asset is not found, and the HTML is no asset', async () => {
  expect((await service.fetch('/assets/x.js')).status).toBe(404)
  expect((await service.fetch('/assets/index.html')).status).toBe(404)
})

test('the whole page takes at most 60 kB over the wire', async () => {
  const { text } = await service.fetch('/', html)
  const paths = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  const sizes = await Promise.all(['/', ...paths].map(sizeOf))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60_000)
})

test('a browser gets a page for an address that does not exist, and any other caller gets JSON', async () => {
  const page = await service.fetch('/jbos', html)
  expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html;charset=utf-8'])
  expect((await service.fetch('/jbos')).body.error.code).toBe('NOT_FOUND')
  expect((await service.fetch('/v1/jbos', html)).body.error.code).toBe('NOT_FOUND')
})

test('STENO_DASHBOARD=off leaves the API alone', async () => {
  const plain = await startTestService({ settings: { STENO_DASHBOARD: 'off' } })
  const { status, headers } = await plain.fetch('/', html)
  expect([status, headers.get('location')]).toEqual([302, `${plain.url}/docs`])
  expect((await plain.fetch('/jobs', html)).status).toBe(404)
  expect((await plain.fetch('/v1')).status).toBe(200)
})

async function read(path: string, coding: string) {
  const headers = { Accept: 'text/html', 'Accept-Encoding': coding }
  const response = await fetch(service.url + path, { headers })
  return {
    status: response.status,
    coding: response.headers.get('content-encoding'),
    cache: response.headers.get('cache-control'),
    text: await response.text(),
  }
}

/** Requests the URL path `path` with gzip compression. Returns the size of the compressed response in bytes. */
async function sizeOf(path: string): Promise<number> {
  const headers = { Accept: 'text/html', 'Accept-Encoding': 'gzip' }
  const response = await fetch(service.url + path, { headers, decompress: false })
  return (await response.arrayBuffer()).byteLength
}

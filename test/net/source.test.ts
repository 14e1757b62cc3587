import { expect, test } from 'bun:test'
import { getFrom, putJson } from '../../src/net/source.ts'

test.each([
  ['bytes 5-9/20', 20],
  ['bytes 5-9/*', null],
])('of a part with the range %p, the size of the whole file is %p', async (range, total) => {
  using files = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('abcde', { status: 206, headers: { 'Content-Range': range } }),
  })
  const { body, ...part } = await getFrom(files.url.href, 5, { signal: new AbortController().signal })
  expect(part).toEqual({ resumed: true, total })
  for await (const bytes of body) expect(Buffer.from(bytes).toString()).toBe('abcde')
})

// A worker sends a result to an address whose query has a signature. It logs an error of this request, so the error
// must not show the query.
test('an error of a request does not show the query of its address', async () => {
  const { signal } = new AbortController()
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('', { status: 500 }) })
  const messageOf = () =>
    putJson(`${server.url.href}a?signature=x`, new Uint8Array(), { signal }).catch(error => error.message)
  expect(await messageOf()).toBe(`${server.url.href}a answered 500`)
  await server.stop(true)
  expect(await messageOf()).toStartWith(`${server.url.href}a cannot be reached`)
})

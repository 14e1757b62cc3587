import { expect, test } from 'bun:test'
import { getFrom } from '../../src/net/source.ts'

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

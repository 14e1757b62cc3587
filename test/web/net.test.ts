import { afterEach, expect, spyOn, test } from 'bun:test'
import { isOnline } from '../../src/web/base/connection.ts'
import { ask } from '../../src/web/base/net.ts'

afterEach(() => {
  isOnline.value = true
})

test('the answer of a proxy that cannot reach the server does not count as an answer of the server', async () => {
  const answer = (async () => new Response('', { status: 502 })) as unknown as typeof fetch
  using _ = spyOn(globalThis, 'fetch').mockImplementation(answer)
  isOnline.value = false
  await expect(ask('POST', '/app/keys', { waitsForServer: false })).rejects.toThrow()
  expect(isOnline.value).toBe(false)
})

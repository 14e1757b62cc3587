import { afterEach, expect, spyOn, test } from 'bun:test'
import { isOnline } from '../../src/web/base/connection.ts'
import { ask } from '../../src/web/base/net.ts'
import { whyRefused } from '../../src/web/transcript/why-refused.ts'

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

test.each([
  [410, 'GONE', 'The server has deleted the recording'],
  [404, 'TRANSCRIPTION_NOT_FOUND', 'The recording could not be loaded. There is no such transcript.'],
  [500, 'INTERNAL_ERROR', 'The recording could not be loaded. There was an error in the server.'],
  [403, null, 'The recording could not be loaded. The answer did not come from the server'],
])('the player calls a recording deleted only if the server does: %d %p', async (status, code, sentence) => {
  const answer = code ? Response.json({ error: { code } }, { status }) : new Response('', { status })
  expect(await whyRefused(answer)).toStartWith(sentence)
})

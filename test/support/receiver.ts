// A receiver of webhooks for tests. At the end of the calling test or file, it checks each body against the schema of
// its event.

import { afterAll } from 'bun:test'
import { checkEvent } from './answers.ts'

export type Received = {
  path: string
  headers: Headers
  raw: string
  body: { event: string; [field: string]: unknown }
}

/**
 * Starts a receiver of webhooks. It stops at the end of the calling test, or of the file if no test is running.
 * `answer` returns the response to a webhook, by default with the status 200.
 */
export function startReceiver(
  answer: (received: Received) => Response | Promise<Response> = () => new Response(),
) {
  const received: Received[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const raw = await request.text()
      const one = {
        path: new URL(request.url).pathname,
        headers: request.headers,
        raw,
        body: JSON.parse(raw),
      }
      received.push(one)
      for (const each of waiting) if (received.length >= each.count) each.resolve()
      return answer(one)
    },
  })
  afterAll(() => {
    server.stop(true)
    for (const { body } of received) checkEvent(body)
  })
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    received,
    events: () => received.map(({ body }) => body.event),
    /** Waits until `count` webhooks have arrived since the start of the receiver. */
    got: (count: number) =>
      received.length >= count
        ? Promise.resolve()
        : new Promise<void>(resolve => waiting.push({ count, resolve })),
  }
}

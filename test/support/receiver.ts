// Someone who takes callbacks and remembers them.

import { afterEach } from 'bun:test'

export type Received = {
  path: string
  headers: Headers
  raw: string
  body: { event: string; [field: string]: unknown }
}

const open = new Set<{ stop(): void }>()

afterEach(() => {
  for (const each of open) each.stop()
  open.clear()
})

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
  open.add({ stop: () => server.stop(true) })
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    received,
    events: () => received.map(({ body }) => body.event),
    /** Waits until so many have come in, over all time. */
    got: (count: number) =>
      received.length >= count
        ? Promise.resolve()
        : new Promise<void>(resolve => waiting.push({ count, resolve })),
  }
}

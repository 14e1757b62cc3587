// Tests that an outage ends once, although the NATS client reports several disconnects and reconnects.

import { expect, test } from 'bun:test'
import type { NatsConnection } from '../../src/workers/connection.ts'
import { Outages } from '../../src/workers/outages.ts'

/** Returns a NATS connection that reports a change when `report` is called. */
function reportingConnection() {
  const { readable, writable } = new TransformStream<{ type: string }>()
  const writer = writable.getWriter()
  const nats = { status: () => readable, getServer: () => '' } as unknown as NatsConnection
  return { nats, report: (type: string) => writer.write({ type }) }
}

// The NATS client reports each refused sign-in as a further disconnect. It later reports as many reconnects.
test('a request that waits for the connection goes on when the outage ends, and the outage ends once', async () => {
  const { nats, report } = reportingConnection()
  let ends = 0
  const outages = new Outages(nats, () => ends++)
  await report('disconnect')
  const connected = outages.connected(AbortSignal.timeout(1000))
  for (const type of ['disconnect', 'reconnect', 'reconnect']) await report(type)
  await connected
  expect([outages.lost.aborted, ends]).toEqual([false, 1])
})

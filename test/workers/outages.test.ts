// Tests the outages of a worker's connection to NATS. The worker must log an outage and its end only once, although the
// NATS client may report several disconnects and reconnects in one outage.

import { expect, spyOn, test } from 'bun:test'
import { log } from '../../src/base/log.ts'
import type { NatsConnection } from '../../src/workers/connection.ts'
import { Outages } from '../../src/workers/outages.ts'

/** Returns a NATS connection that reports a change of its status, such as a disconnect, when `report` is called. */
function reportingConnection() {
  const { readable, writable } = new TransformStream<{ type: string }>()
  const writer = writable.getWriter()
  const nats = { status: () => readable, getServer: () => 'host:4222' } as unknown as NatsConnection
  return { nats, report: (type: string) => writer.write({ type }) }
}

// The NATS client reports each refused sign-in as another disconnect, and later reports one reconnect for each
// disconnect. The outage must still end only once.
test('a request that waits for the connection goes on when the outage ends, and the outage ends once', async () => {
  const { nats, report } = reportingConnection()
  using warn = spyOn(log, 'warn').mockImplementation(() => {})
  using info = spyOn(log, 'info').mockImplementation(() => {})
  let ends = 0
  const outages = new Outages(nats, () => ends++)
  await outages.connected(new AbortController().signal)
  const { lost } = outages
  await report('disconnect')
  let isConnected = false
  const connected = outages.connected(AbortSignal.timeout(1000)).then(() => {
    isConnected = true
  })
  await report('disconnect')
  await Bun.sleep(0)
  expect([lost.aborted, isConnected]).toEqual([true, false])
  for (const type of ['reconnect', 'reconnect']) await report(type)
  await connected
  expect([outages.lost.aborted, ends]).toEqual([false, 1])
  expect(warn.mock.calls).toEqual([['nats lost']])
  expect(info.mock.calls).toEqual([['nats connected', { server: 'host:4222' }]])
})

test('a request that waits for the connection ends with the reason for which its job stops', async () => {
  const { nats, report } = reportingConnection()
  using _warn = spyOn(log, 'warn').mockImplementation(() => {})
  const outages = new Outages(nats, () => {})
  await report('disconnect')
  await Bun.sleep(0)
  const stop = new AbortController()
  const connected = outages.connected(stop.signal)
  stop.abort(new Error('the worker ends'))
  await expect(connected).rejects.toThrow('the worker ends')
})

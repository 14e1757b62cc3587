// Tests that a promise that rejects after the stop signal does not end the process.

import { expect, test } from 'bun:test'
import { beforeStop } from '../../src/net/before-stop.ts'

test('the error of a promise has no effect after the stop', async () => {
  expect(await beforeStop(Promise.reject(new Error('late')), AbortSignal.abort())).toBeNull()
  const stop = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  const result = beforeStop(promise, stop.signal)
  stop.abort()
  reject(new Error('late'))
  expect(await result).toBeNull()
  // Bun reports an unhandled rejection after the next turn of the event loop. The test must not end earlier.
  await Bun.sleep(1)
})

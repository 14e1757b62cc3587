// Measures the memory of the built program without requests.

import { afterAll, expect, test } from 'bun:test'
import { builtProgram } from '../support/built-program.ts'
import { prepareData, serve } from '../support/server.ts'

test('the idle server takes at most 70 MB', async () => {
  const data = prepareData()
  afterAll(() => data.remove())
  const server = await serve(data, { STENO_MODEL: data.dataDir }, [builtProgram()])
  afterAll(() => server.stop())
  // The program frees memory of its start when it has been idle for ten seconds.
  for (let tries = 0; tries < 200 && server.rssMb() > 70; tries++) await Bun.sleep(100)
  expect(server.rssMb()).toBeLessThanOrEqual(70)
}, 60_000)

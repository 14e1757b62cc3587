// Tests jobs whose workers vanish, freeze or lose their network.

import { afterAll, expect } from 'bun:test'
import { selfCommand } from '../../src/base/self.ts'
import { limits } from '../../src/limits.ts'
import { runCluster } from '../support/cluster.ts'
import { steeredEngine } from '../support/engine.ts'
import { charges, startFleet } from '../support/fleet.ts'
import { natsTest, startNats } from '../support/nats.ts'
import { seeded } from '../support/random.ts'

natsTest(
  'while workers are killed and frozen and their network fails, each job that loses at most three claims is done and charged once, with its events in order',
  async () => {
    const cleanup = new AsyncDisposableStack()
    afterAll(() => cleanup.disposeAsync())
    const workerCommand = selfCommand('simulated-worker')
    const options = {
      jobs: 24,
      workers: 3,
      slots: 2,
      seconds: 4,
      speed: 5,
      lease: '1s',
      webhooks: true,
      workerCommand,
    }
    // With this seed, the first four faults are of four different kinds. A worker is frozen for longer than its lease.
    const faultOptions = { random: seeded(4), faultEveryMs: 700, freezeMs: 1500, faultsMax: 4 }
    const { faults, broken } = await runCluster({ ...options, ...faultOptions }, cleanup)
    expect(broken).toEqual([])
    expect(Object.values(faults).reduce((sum, count) => sum + count)).toBeGreaterThan(2)
  },
  60_000,
)

natsTest(
  'a job whose first three workers vanish is done by the fourth worker; after four workers, a job fails and costs nothing',
  async () => {
    const { service, startOwn } = await startFleet((await startNats()).url)
    const ana = service.account('ana')
    const [done, lost] = [await ana.transcribe(), await ana.transcribe()]
    for (let claim = 1; claim <= limits.workerAttemptsMax; claim++) {
      const { engine, stop } = await startOwn(`gpu-${claim}`, steeredEngine({ capacity: 2 }))
      await engine.given(2)
      if (claim === limits.workerAttemptsMax) {
        const task = engine.tasks.find(({ input }) => input.path.includes(done))
        if (!task) throw new Error('the worker has another job')
        engine.finish(task)
        await ana.until(done, 'completed')
      }
      await stop()
    }
    const { error } = await ana.until(lost, 'failed')
    expect(error.code).toBe('PROCESSING_ERROR')
    expect([charges(service, done), charges(service, lost)]).toEqual([
      ['reserve', 'settle'],
      ['reserve', 'release'],
    ])
    expect((await service.fetch('/metrics')).text).toContain('steno_dead_letters_total 1')
  },
  60_000,
)

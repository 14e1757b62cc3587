import { expect } from 'bun:test'
import { runCluster } from '../support/cluster.ts'
import { natsTest } from '../support/nats.ts'
import { seeded } from '../support/random.ts'

natsTest(
  'while workers are killed and frozen and their network fails, each job is done and charged once, with its events in order',
  async () => {
    const { faults, broken } = await runCluster({
      jobs: 80,
      workers: 3,
      slots: 4,
      seconds: 4,
      speed: 5,
      lease: '1s',
      random: seeded(3),
      faultEveryMs: 1500,
      webhooks: true,
    })
    expect(broken).toEqual([])
    expect(Object.values(faults).reduce((sum, count) => sum + count)).toBeGreaterThan(2)
  },
  60_000,
)

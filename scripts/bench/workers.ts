// Runs jobs on simulated workers with a real nats-server. The first run has no faults and measures the CPU time of the
// server. The second run has killed workers, frozen workers and network faults. For the second run, STENO_BENCH_JOBS
// sets the number of jobs, and STENO_BENCH_SEED sets the seed of the random faults.

import { type ClusterResult, runCluster } from '../../test/support/cluster.ts'
import { hasNats } from '../../test/support/find-nats.ts'
import { seeded } from '../../test/support/random.ts'

export const bench = { name: 'workers over NATS', run }

const jobs = Number(process.env.STENO_BENCH_JOBS ?? 1000)
const seed = Number(process.env.STENO_BENCH_SEED ?? 7)

async function run(): Promise<string[][]> {
  if (!hasNats) throw new Error('there is no nats-server here')
  const quick = await runCluster({ jobs: 20_000, workers: 4, slots: 32, seconds: 1, speed: 20 })
  const faulty = await runCluster({
    jobs,
    workers: 4,
    slots: 8,
    seconds: 10,
    speed: 5,
    lease: '5s',
    random: seeded(seed),
    webhooks: true,
  })
  return [
    ['jobs', 'faults', 'seconds', 'jobs a second', 'CPU of the server, ms a job', 'claims', 'rules broken'],
    row(20_000, quick),
    row(jobs, faulty),
  ]
}

function row(count: number, { seconds, cpuMsPerJob, faults, attempts, broken }: ClusterResult): string[] {
  const named = Object.entries(faults).map(([kind, times]) => `${times} ${kind}`)
  for (const rule of broken.slice(0, 10)) console.log(rule)
  return [
    `${count}`,
    named.join(', '),
    seconds.toFixed(1),
    (count / seconds).toFixed(0),
    cpuMsPerJob.toFixed(2),
    `${attempts}`,
    `${broken.length}`,
  ]
}

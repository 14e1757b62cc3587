// Runs the simulator of the service (test/support/simulation.ts) with many seeds, and reports each seed with which the
// service breaks a rule. 10,000 seeds take about 7 minutes of CPU time. STENO_BENCH_SEEDS sets the number of seeds, and
// STENO_BENCH_SEED the first seed.

import { simulate } from '../../test/support/simulation.ts'

export const bench = { name: 'simulation: no seed breaks a promise', run }

const seeds = Number(process.env.STENO_BENCH_SEEDS ?? 10_000)
const progressEvery = 500
const firstSeed = Number(process.env.STENO_BENCH_SEED ?? 1000)

async function run(): Promise<string[][]> {
  const began = performance.now()
  const broken: string[][] = []
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const rules = await simulate(seed)
    if (rules.length > 0) {
      broken.push([`seed ${seed}`, rules.join('; ')])
      console.log(`seed ${seed}: ${rules.join('; ')}`)
    }
    const done = seed - firstSeed + 1
    if (done % progressEvery === 0) console.log(`${done} of ${seeds} seeds, ${broken.length} broke a promise`)
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  return [
    ['seeds', `${seeds}`],
    ['seconds', seconds],
    ['seeds that broke a promise', `${broken.length}`],
    ...broken,
  ]
}

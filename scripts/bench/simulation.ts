// Runs the simulator with many seeds, and reports each seed with which the service breaks a rule.
// STENO_BENCH_SEEDS sets the number of seeds. STENO_BENCH_SEED sets the first seed.

import { simulate } from '../../test/support/simulation.ts'

export const bench = { name: 'simulation: no seed breaks a promise', run }

const seeds = Number(process.env.STENO_BENCH_SEEDS ?? 10_000)
const firstSeed = Number(process.env.STENO_BENCH_SEED ?? 1000)

async function run(): Promise<string[][]> {
  const began = performance.now()
  const broken: string[][] = []
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const rules = await simulate(seed)
    if (rules.length > 0) broken.push([`seed ${seed}`, rules.join('; ')])
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  return [
    ['seeds', `${seeds}`],
    ['seconds', seconds],
    ['seeds that broke a promise', `${broken.length}`],
    ...broken,
  ]
}

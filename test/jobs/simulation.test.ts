import { expect, test } from 'bun:test'
import { simulate } from '../support/simulation.ts'

const seeds = Number(process.env.STENO_SIMULATION_SEEDS ?? 100)
const firstSeed = Number(process.env.STENO_SIMULATION_SEED ?? 0)

test('in any order of work, requests, kills, power cuts, locks and clock steps all promises are kept', async () => {
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    expect([seed, await simulate(seed)]).toEqual([seed, []])
  }
}, 600_000)

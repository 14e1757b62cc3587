import { expect, test } from 'bun:test'
import { type Banded, turns, warp } from '../../../src/engine/hear/warp.ts'
import { noise } from '../../support/sound.ts'

/** Every monotonic path there is within the bands, tried out. */
function bestByForce({ bands, values }: Banded): number {
  const walk = (row: number, column: number): number => {
    const band = bands[row]
    if (!band || column < band.begin || column >= band.end) return Number.NEGATIVE_INFINITY
    const here = values[row]![column - band.begin]!
    if (row === 0 && column === band.begin) return here
    return here + Math.max(walk(row - 1, column - 1), walk(row - 1, column), walk(row, column - 1))
  }
  return walk(bands.length - 1, bands.at(-1)!.end - 1)
}

function valuesIn(bands: Banded['bands'], seed: number): Banded {
  return {
    bands,
    values: bands.map(({ begin, end }, row) => noise((end - begin) / 16_000, 1, 31 * seed + row)),
  }
}

function expectBest(banded: Banded): void {
  const { bands, values } = banded
  const path = warp(banded)
  expect(path.sum).toBeCloseTo(bestByForce(banded), 5)
  const along = path.rows.map((row, index) => values[row]![path.columns[index]! - bands[row]!.begin]!)
  expect(along.reduce((sum, each) => sum + each, 0)).toBeCloseTo(path.sum, 5)
  for (const [index, row] of path.rows.entries()) {
    if (index === 0) continue
    const [down, right] = [row - path.rows[index - 1]!, path.columns[index]! - path.columns[index - 1]!]
    expect([down, right, down + right > 0]).toEqual([down && 1, right && 1, true])
  }
}

test('warping finds the path that trying all of them finds', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const [rows, columns] = [1 + (seed % 5), 1 + ((seed * 7) % 8)]
    expectBest(
      valuesIn(
        Array.from({ length: rows }, () => ({ begin: 0, end: columns })),
        seed,
      ),
    )
  }
})

test('warping within bands finds the best path that stays inside them', () => {
  for (let seed = 1; seed <= 60; seed++) {
    // Bands that step forward, overlap, or only touch.
    const step = seed % 4
    const bands = Array.from({ length: 1 + (seed % 5) }, (_, row) => ({
      begin: row * step,
      end: row * step + Math.max(step, 1 + ((seed * 3) % 5)),
    }))
    expectBest(valuesIn(bands, seed))
  }
})

test('a turn begins where the path first meets its row', () => {
  expect(turns({ rows: [0, 0, 1, 2, 2], columns: [4, 5, 5, 6, 7], sum: 0 })).toEqual([4, 5, 6])
})

import { expect, test } from 'bun:test'
import { type Band, type BandedRow, startsOf, warp } from '../../../src/engine/hear/warp.ts'
import { noise } from '../../support/sound.ts'

/**
 * Returns the greatest sum of values over all paths through a matrix, by trying all paths. A row has the columns from
 * `begin` (inclusive) to `end` (exclusive). A path leads from the first column of the first row to the last column of
 * the last row, and never goes back.
 */
function bestByForce(rows: readonly BandedRow[]): number {
  const walk = (row: number, column: number): number => {
    const band = rows[row]
    if (!band || column < band.begin || column >= band.end) return Number.NEGATIVE_INFINITY
    const value = band.values[column - band.begin]!
    if (row === 0 && column === band.begin) return value
    return value + Math.max(walk(row - 1, column - 1), walk(row - 1, column), walk(row, column - 1))
  }
  return walk(rows.length - 1, rows.at(-1)!.end - 1)
}

function withNoise(bands: readonly Band[], seed: number): BandedRow[] {
  return bands.map(({ begin, end }, row) => ({
    begin,
    end,
    values: noise((end - begin) / 16_000, 1, 31 * seed + row),
  }))
}

function expectBest(rows: readonly BandedRow[]): void {
  const { cells, sum } = warp(rows)
  expect(sum).toBeCloseTo(bestByForce(rows), 5)
  let along = 0
  for (const [index, { row, column }] of cells.entries()) {
    const { begin, values } = rows[row]!
    along += values[column - begin]!
    const before = cells[index - 1]
    if (!before) continue
    const [down, right] = [row - before.row, column - before.column]
    expect([down, right, down + right > 0]).toEqual([down && 1, right && 1, true])
  }
  expect(along).toBeCloseTo(sum, 5)
  expect(cells[0]).toEqual({ row: 0, column: rows[0]!.begin })
  expect(cells.at(-1)).toEqual({ row: rows.length - 1, column: rows.at(-1)!.end - 1 })
}

test('the path is the optimum over all paths', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const [rows, columns] = [1 + (seed % 5), 1 + ((seed * 7) % 8)]
    const bands = Array.from({ length: rows }, () => ({ begin: 0, end: columns }))
    expectBest(withNoise(bands, seed))
  }
})

test('the path is the optimum over all paths within the bands', () => {
  for (let seed = 1; seed <= 60; seed++) {
    // The band of a row is the range of its allowed columns. Depending on the seed, the bands of neighbouring rows are
    // equal, overlap, or only touch.
    const step = seed % 4
    const bands = Array.from({ length: 1 + (seed % 5) }, (_, row) => ({
      begin: row * step,
      end: row * step + Math.max(step, 1 + ((seed * 3) % 5)),
    }))
    expectBest(withNoise(bands, seed))
  }
})

test('a row starts at its first column on the path', () => {
  const columns = [[4, 5], [5], [6, 7]]
  const cells = columns.flatMap((own, row) => own.map(column => ({ row, column })))
  expect(startsOf({ cells, sum: 0 })).toEqual([4, 5, 6])
})

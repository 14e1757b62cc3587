import { expect, test } from 'bun:test'
import { attentionIn } from '../../../src/engine/hear/attention.ts'
import { noise } from '../../support/sound.ts'

/**
 * Computes the result of `attentionIn` without optimisation. Scales each frame to the mean 0 and the standard deviation
 * 1 over all tokens. Then applies a median filter over seven frames to each token.
 */
function plainly(rows: readonly (readonly number[])[]): number[][] {
  const columns = rows[0]!.map((_, frame) => rows.map(row => row[frame]!))
  const mean = columns.map(column => column.reduce((sum, each) => sum + each, 0) / column.length)
  const spread = columns.map((column, frame) =>
    Math.sqrt(column.reduce((sum, each) => sum + (each - mean[frame]!) ** 2, 0) / column.length),
  )
  return rows.map(row => {
    const level = row.map((each, frame) => (each - mean[frame]!) / spread[frame]!)
    return level.map((_, frame) => {
      const around = Array.from({ length: 7 }, (_, place) => {
        const at = Math.abs(frame + place - 3)
        return level[at >= row.length ? 2 * (row.length - 1) - at : at]!
      })
      return around.toSorted((one, other) => one - other)[3]!
    })
  })
}

test('the values within each band equal the unoptimised definition', () => {
  const [tokens, heads, frames] = [5, 3, 40]
  const rows = Array.from({ length: tokens }, (_, token) =>
    noise((heads * frames) / 16_000, 1, token + 1).map(each => (each + 1.001) ** 4),
  )
  const bands = rows.map((attention, row) => ({ begin: 3 * row, end: 3 * row + 20, attention }))
  const ours = attentionIn(bands, frames)
  const planes = Array.from({ length: heads }, (_, head) =>
    plainly(rows.map(row => [...row.subarray(head * frames, (head + 1) * frames)])),
  )
  for (const [token, { begin, end }] of bands.entries()) {
    expect(ours[token]!.values.length).toBe(end - begin)
    for (let frame = begin; frame < end; frame++) {
      const mean = planes.reduce((sum, plane) => sum + plane[token]![frame]!, 0) / heads
      expect(ours[token]!.values[frame - begin]).toBeCloseTo(mean, 4)
    }
  }
})

test('a short input, and an input of zeros, have finite values', () => {
  for (const attention of [new Float32Array(9), new Float32Array([0.5, 0.5, 0])]) {
    const [row] = attentionIn([{ begin: 0, end: attention.length, attention }], attention.length)
    expect(row!.values.every(Number.isFinite)).toBe(true)
  }
})

test('the attention of a window that is too short to be smoothed is finite', () => {
  const row = (...values: number[]) => ({ begin: 0, end: 2, attention: Float32Array.from(values) })
  const rows = attentionIn([row(1, 0), row(0, 1)], 2)
  expect(rows.map(({ values }) => [...values])).toEqual([
    [1, -1],
    [-1, 1],
  ])
})

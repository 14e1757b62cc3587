import { expect, test } from 'bun:test'
import { alignmentHeadsOf } from '../../../src/engine/hear/alignment-heads.ts'

test('a model with the dimensions of Whisper base has its heads', () => {
  expect(alignmentHeadsOf(6, 8, 51865)).toEqual([
    [3, 1],
    [4, 2],
    [4, 3],
    [4, 7],
    [5, 1],
    [5, 2],
    [5, 4],
    [5, 6],
  ])
})

test.each([
  ['two layers of 20 heads', 2, 20, 20, 1],
  ['four layers of 2 heads', 4, 2, 4, 2],
  ['32 layers of 16 heads', 32, 16, 24, 16],
])('a model of other dimensions uses heads of its upper layers: %s', (_, layers, heads, count, lowest) => {
  const found = alignmentHeadsOf(layers, heads, 52_000)
  expect(found.length).toBe(count)
  expect(new Set(found.map(String)).size).toBe(count)
  expect(Math.min(...found.map(([layer]) => layer))).toBe(lowest)
  expect(Math.max(...found.map(([layer]) => layer))).toBe(layers - 1)
  expect(Math.max(...found.map(([, head]) => head))).toBeLessThan(heads)
})

import { expect, test } from 'bun:test'
import { blockSize, byBlock, byOutput, type Layout } from '../../../src/engine/network/quantise.ts'

/** Quantises a matrix with one output. Returns the bytes and the scale. */
function quantised(layout: Layout, values: number[]): [number[], number[]] {
  const data = Float32Array.from({ length: blockSize }, (_, at) => values[at] ?? 0)
  const dims = { outputs: 1, inputs: blockSize }
  const [bytes, scales] = layout('m', () => ({ data, ...dims }), dims).map(({ make }) =>
    [...make()].map(Number),
  )
  return [(bytes ?? []).slice(0, values.length), scales ?? []]
}

test('the largest value has the largest byte, and a row of zeros has the scale 1', () => {
  expect(quantised(byBlock, [127, -127, 1, 0])).toEqual([[255, 1, 129, 128], [1]])
  expect(quantised(byOutput, [127, -127, 1, 0])).toEqual([[127, -127, 1, 0], [1]])
  expect(quantised(byBlock, [0])).toEqual([[128], [1]])
  expect(quantised(byOutput, [0])).toEqual([[0], [1]])
})

test('values whose scale a 16-bit float rounds down have the largest byte', () => {
  const smallest = 2 ** -24
  const [bytes, scales] = quantised(
    byBlock,
    [127, -127].map(value => value * 1.4 * smallest),
  )
  expect([bytes, scales]).toEqual([[255, 1], [smallest]])
})

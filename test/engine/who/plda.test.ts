import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pldaFiles } from '../../../src/engine/models/installed-voices.ts'
import { readNpz } from '../../../src/engine/who/npz.ts'
import { openPlda } from '../../../src/engine/who/open-plda.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { makeNpz } from '../../support/npz.ts'

const range = (length: number) => ({ shape: [length], values: Array.from({ length }, (_, at) => at + 1) })

test('arrays of 64 and 32 bits are read from archives with and without compression', () => {
  const path = join(temporaryFolder(), 'arrays.npz')
  const long = { shape: [2, 2], values: [1, -2, 0.5, 1e300] }
  for (const stored of [false, true]) {
    writeFileSync(path, makeNpz({ long, short: { ...range(3), bits: 32 } }, { stored }))
    const arrays = readNpz(path)
    expect(arrays.get('long')).toEqual({ shape: [2, 2], values: Float64Array.from(long.values) })
    expect(arrays.get('short')).toEqual({ shape: [3], values: Float64Array.of(1, 2, 3) })
  }
})

test('a file that is no archive, and an array that is cut off, are refused', () => {
  const path = join(temporaryFolder(), 'arrays.npz')
  writeFileSync(path, 'no archive')
  expect(() => readNpz(path)).toThrow('is no zip archive')
  writeFileSync(path, makeNpz({ a: { shape: [3], values: [1] } }))
  expect(() => readNpz(path)).toThrow('a.npy in')
})

test('the PLDA model is read from its two archives, and an array of a wrong size is named', async () => {
  const folder = temporaryFolder()
  const [transform = '', model = ''] = pldaFiles
  const projection = { shape: [3, 2], values: [1, 0, 0, 1, 0, 0] }
  await Bun.write(join(folder, transform), makeNpz({ mean1: range(3), mean2: range(2), lda: projection }))
  const identity = { shape: [2, 2], values: [1, 0, 0, 1] }
  await Bun.write(join(folder, model), makeNpz({ mu: range(2), tr: identity, psi: range(2) }))
  const plda = openPlda(folder)
  expect([...plda.between]).toEqual([1, 2])
  // `project` computes five steps:
  // - It subtracts the mean (1, 2, 3) from the embedding (4, 6, 3): (3, 4, 0).
  // - It scales the result to the norm √3: √3 · (0.6, 0.8, 0).
  // - The projection keeps only the first two values.
  // - It subtracts the second mean (1, 2).
  // - It scales the result to the norm 1.
  const [one = 0, other = 0] = plda.project(Float32Array.of(4, 6, 3))
  expect(one / other).toBeCloseTo((0.6 * Math.sqrt(3) - 1) / (0.8 * Math.sqrt(3) - 2), 4)
  expect(Math.hypot(one, other)).toBeCloseTo(1, 6)
  const [first = 0, second = 0] = plda.features(Float32Array.of(0.6, 0.8))
  expect([first, second]).toEqual([
    expect.closeTo(0.6 * Math.SQRT2 - 1, 6),
    expect.closeTo(0.8 * Math.SQRT2 - 2, 6),
  ])
  await Bun.write(join(folder, model), makeNpz({ mu: range(2), tr: range(3), psi: range(2) }))
  expect(() => openPlda(folder)).toThrow('no usable PLDA array tr')
})

import { expect, test } from 'bun:test'
import { availableParallelism } from 'node:os'
import { allowedCores } from '../../../src/engine/onnx/cores.ts'

test.each([
  ['50000 100000\n', 1],
  ['150000 100000\n', 1],
  ['200000 100000\n', Math.min(2, availableParallelism())],
  ['max 100000\n', availableParallelism()],
  ['', availableParallelism()],
])('with the CPU quota %j, a process may use %p cores', (quota, cores) => {
  expect(allowedCores(quota)).toBe(cores)
})

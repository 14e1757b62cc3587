import { expect, test } from 'bun:test'
import { Graph } from '../../../src/engine/onnx/graph.ts'
import type { Runtime } from '../../../src/engine/onnx/runtime.ts'
import { openSession, type Tensor, tensor } from '../../../src/engine/onnx/session.ts'
import { runtime } from '../../support/engine-room.ts'

/**
 * Returns a model that starts with the matrix `x` and multiplies by `x` 20 times. It applies Tanh to each product. It
 * fails if `x` is not a square matrix.
 */
function powers(): Uint8Array {
  const graph = new Graph()
  let value = graph.input('x', 'float32', ['rows', 'columns'])
  for (let round = 0; round < 20; round++) value = graph.add('Tanh', [graph.add('MatMul', [value, 'x'])])
  graph.add('Identity', [value], {}, ['y'])
  graph.output('y', 'float32', ['rows', 'columns'])
  return graph.bytes()
}

function matrix(seed: number, rows: number, columns: number): Tensor {
  const data = Float32Array.from({ length: rows * columns }, (_, at) => Math.sin(at * seed))
  return tensor(runtime(), 'float32', data, [rows, columns])
}

const linux = process.platform === 'linux'

test.skipIf(!linux)('two runs at the same time give the numbers of two runs one after the other', () => {
  // `runTwo` calls `RunAsync` for one run on another thread, and `Run` for the other run on this thread. If the run on
  // the other thread fails, `runTwo` repeats it with a second call of `Run`. The results are then the same as without a
  // failure. So only the number of calls of `Run` shows this failure.
  let runs = 0
  const counted: Runtime = {
    ...runtime(),
    Run: (...args) => {
      runs++
      runtime().Run(...args)
    },
  }
  const session = openSession(counted, powers())
  const run = session.run(['x'], ['y'])
  const runTwo = session.runTwo(['x'], ['y'])
  for (const [small, large] of [
    [40, 200],
    [200, 40],
    [120, 120],
  ] as const) {
    const [one, other] = [matrix(3, small, small), matrix(7, large, large)]
    runs = 0
    const together = runTwo?.([one], [other]).map(([result], at) => {
      const values = result.floats([small, large][at]! ** 2).slice()
      result.free()
      return values
    })
    expect(runs).toBe(1)
    const alone = [one, other].map((input, at) => {
      const [result] = run([input])
      const values = result.floats([small, large][at]! ** 2).slice()
      for (const used of [input, result]) used.free()
      return values
    })
    expect(together).toEqual(alone)
  }
  session.close()
})

test.skipIf(!linux)('an error in one of two runs is thrown, and later runs work', () => {
  const session = openSession(runtime(), powers())
  const runTwo = session.runTwo(['x'], ['y'])
  const [good, bad] = [matrix(3, 50, 50), matrix(3, 50, 40)]
  expect(() => runTwo?.([good], [bad])).toThrow('MatMul')
  expect(() => runTwo?.([bad], [good])).toThrow('MatMul')
  expect(runTwo?.([good], [good]).map(([result]) => result.dims)).toEqual([
    [50, 50],
    [50, 50],
  ])
  session.close()
})

test.each([1, 3])('a runtime with %p threads does not run a model twice at the same time', threads => {
  const session = openSession({ ...runtime(), threads }, powers())
  expect(session.runTwo(['x'], ['y'])).toBeNull()
  session.close()
})

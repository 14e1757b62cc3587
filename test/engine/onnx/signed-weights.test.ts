import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Graph } from '../../../src/engine/onnx/graph.ts'
import { field, number } from '../../../src/engine/onnx/protobuf.ts'
import { openQuantised } from '../../../src/engine/onnx/quantised.ts'
import { openSession, tensor } from '../../../src/engine/onnx/session.ts'
import { withSignedWeights } from '../../../src/engine/onnx/signed-weights.ts'
import { readModel } from '../../../src/engine/onnx/weights.ts'
import { runtime } from '../../support/engine-room.ts'
import { temporaryFolder } from '../../support/folder.ts'

const uint8 = 2
const [rows, inner, columns] = [3, 40, 8]
const weights = Uint8Array.from({ length: inner * columns }, (_, at) => (at * 89) % 256)

/**
 * Returns a model that multiplies quantised activations by quantised weights. `zero` adds the zero point of the weights
 * to the graph, and `more` adds further operations.
 */
function product(zero: (graph: Graph) => string, more?: (graph: Graph, matrix: string) => void): Uint8Array {
  const graph = new Graph()
  const given = graph.input('x', 'float32', [rows, inner])
  graph.add('DynamicQuantizeLinear', [given], {}, ['bytes', 'scale', 'middle'])
  const matrix = graph.constant({ dims: [inner, columns], data: weights })
  graph.add('MatMulInteger', ['bytes', matrix, 'middle', zero(graph)], {}, ['sums'])
  const sums = graph.add('Cast', ['sums'], { to: 1 })
  graph.add('Mul', [sums, 'scale'], {}, ['y'])
  graph.output('y', 'float32', [rows, columns])
  more?.(graph, matrix)
  return graph.bytes()
}

const asBytes = (graph: Graph) => graph.constant({ dims: [], data: Uint8Array.of(131) })

function run(model: Uint8Array): Float32Array {
  const session = openSession(runtime(), model)
  const x = Float32Array.from({ length: rows * inner }, (_, at) => Math.sin(at * at))
  const given = tensor(runtime(), 'float32', x, [rows, inner])
  const [result] = session.run(['x'], ['y'])([given])
  const values = result.floats(rows * columns).slice()
  for (const used of [given, result]) used.free()
  session.close()
  return values
}

const typesOf = (model: Uint8Array) =>
  [...readModel(model).constants.values()].map(({ type }) => type).toSorted()

test('a model gives the same numbers, to the bit, with signed instead of unsigned weights', () => {
  const unsigned = product(asBytes)
  const signed = withSignedWeights(new Uint8Array(unsigned))
  expect(typesOf(unsigned)).toEqual([2, 2])
  expect(typesOf(signed)).toEqual([3, 3])
  expect(run(unsigned).some(value => Math.abs(value) > 1)).toBe(true)
  expect(run(signed)).toEqual(run(unsigned))
})

test('a zero point that is stored as a list of integers is converted as well', () => {
  const tensorFields = [number(2, uint8), field(5, Uint8Array.of(131, 1)), field(8, Buffer.from('zero'))]
  const unsigned = Buffer.concat([product(() => 'zero'), field(7, field(5, Buffer.concat(tensorFields)))])
  const signed = withSignedWeights(new Uint8Array(unsigned))
  expect(typesOf(signed)).toEqual([3, 3])
  expect(run(signed)).toEqual(run(product(asBytes)))
  expect(run(unsigned)).toEqual(run(signed))
})

test('a model is unchanged if its weights have another use, or no zero point, or are signed', () => {
  const x = Uint8Array.of(0)
  const uses: ((graph: Graph, matrix: string) => void)[] = [
    (graph, matrix) => graph.add('Cast', [matrix], { to: 1 }),
    (graph, matrix) => graph.add('Concat', [graph.constant({ dims: [1], data: x }), matrix], { axis: 0 }),
    (graph, matrix) => graph.add('MatMulInteger', [matrix, graph.constant({ dims: [1], data: x })]),
  ]
  const signed = withSignedWeights(product(asBytes))
  const others = uses.map(use => product(asBytes, use))
  for (const model of [...others, product(() => ''), signed, new Graph().bytes()])
    expect(withSignedWeights(model)).toBe(model)
})

/** Adds a constant of bytes to the graph. The content of this constant is in another file. */
function external(graph: Graph, dims: readonly number[]): string {
  return graph.stored({ type: 'uint8', dims, file: 'far.bin', from: 0, bytes: 1 })
}

test('a model is unchanged if its weights or their zero points are in another file', () => {
  const farMatrix = (graph: Graph) => {
    graph.add('MatMulInteger', ['bytes', external(graph, [inner, columns]), 'middle', asBytes(graph)])
  }
  for (const model of [product(asBytes, farMatrix), product(graph => external(graph, []))])
    expect(withSignedWeights(model)).toBe(model)
})

test('a model of 8-bit weights is opened with its other weights in another file', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'model.int8.onnx')
  const model = product(asBytes, graph => {
    const far = graph.stored({
      type: 'float32',
      dims: [columns],
      file: 'far.bin',
      from: 0,
      bytes: 4 * columns,
    })
    graph.add('Add', ['y', far], {}, ['z'])
    graph.output('z', 'float32', [rows, columns])
  })
  await Bun.write(path, model)
  await Bun.write(join(folder, 'far.bin'), new Uint8Array(4 * columns))
  const session = openQuantised(runtime(), path, 'cpu')
  expect(session.outputs.map(({ name }) => name)).toEqual(['y', 'z'])
  session.close()
})

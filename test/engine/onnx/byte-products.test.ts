import { expect, test } from 'bun:test'
import { fullRange, halfRange } from '../../../src/engine/network/decoder-attention.ts'
import { addsBytesExactly } from '../../../src/engine/onnx/byte-products.ts'
import { Graph } from '../../../src/engine/onnx/graph.ts'
import { openSession, tensor } from '../../../src/engine/onnx/session.ts'
import { exactBytesKey } from '../../../src/engine/onnx/session-options.ts'
import { runtime } from '../../support/engine-room.ts'

type Product = {
  rows: number
  inner: number
  columns: number
  /** The value of every byte of the left matrix. */
  unsigned: number
  /** The value of every byte of the right matrix. */
  signed: number
  /** True if the right matrix is a constant of the model, such as weights. False if it is an input. */
  isConstant: boolean
}

/**
 * Lets ONNX Runtime multiply the left matrix (`rows` × `inner`) by the right matrix (`inner` × `columns`). Returns the
 * distinct elements of the product. All bytes of a matrix are equal, so an exact product has only one distinct element.
 */
function sums({ rows, inner, columns, unsigned, signed, isConstant }: Product): number[] {
  const graph = new Graph()
  const right = new Int8Array(inner * columns).fill(signed)
  const left = graph.input('left', 'uint8', [rows, inner])
  const name = isConstant
    ? graph.constant({ dims: [inner, columns], data: right })
    : graph.input('right', 'int8', [inner, columns])
  graph.add('Cast', [graph.add('MatMulInteger', [left, name])], { to: 1 }, ['sums'])
  graph.output('sums', 'float32', [rows, columns])
  const session = openSession(runtime(), graph.bytes())
  const inputs = [tensor(runtime(), 'uint8', new Uint8Array(rows * inner).fill(unsigned), [rows, inner])]
  if (!isConstant) inputs.push(tensor(runtime(), 'int8', right, [inner, columns]))
  const [result] = session.run(isConstant ? ['left'] : ['left', 'right'], ['sums'])(inputs)
  const found = new Set(result.floats(rows * columns))
  for (const used of [...inputs, result]) used.free()
  session.close()
  return [...found]
}

const inner = 68

test('the largest activations times the largest weights have an exact sum on every CPU', () => {
  for (const signed of [127, -128]) {
    for (const rows of [1, 30])
      expect(sums({ rows, inner, columns: 16, unsigned: 255, signed, isConstant: true })).toEqual([
        inner * 255 * signed,
      ])
  }
})

test('the largest numbers of the cross-attention have exact sums on this CPU', () => {
  const { query, share } = addsBytesExactly(runtime()) ? fullRange : halfRange
  const largestOfKeys = 255
  for (const signed of [query, -query])
    expect(sums({ rows: 30, inner, columns: 1, unsigned: largestOfKeys, signed, isConstant: false })).toEqual(
      [inner * largestOfKeys * signed],
    )
  for (const signed of [127, -127])
    expect(sums({ rows: 1, inner, columns: 64, unsigned: share, signed, isConstant: false })).toEqual([
      inner * share * signed,
    ])
})

test('weights are converted to unsigned bytes only where products of signed ones are not exact', () => {
  const real = runtime()
  const settings: string[] = []
  const watched: typeof real = {
    ...real,
    AddSessionConfigEntry(options, key, value) {
      settings.push(
        Buffer.from(key as Uint8Array)
          .toString()
          .replace('\0', ''),
      )
      return real.AddSessionConfigEntry(options, key, value)
    },
  }
  const graph = new Graph()
  graph.output(graph.add('Neg', [graph.input('value', 'float32', [1])], {}, ['negative']), 'float32', [1])
  openSession(watched, graph.bytes()).close()
  expect(settings).toEqual(addsBytesExactly(real) ? [] : [exactBytesKey])
})

// Finds out whether ONNX Runtime adds products of bytes exactly on this CPU. An x86 CPU without VNNI instructions
// limits the sum of two products to 16 bits (-32,768 to 32,767). Two products of 255 and 127 have the sum 64,770, but
// such a CPU returns 32,767.

import { Graph } from './graph.ts'
import { createSession } from './opened-session.ts'
import { pointerFrom } from './pointers.ts'
import type { Runtime } from './runtime.ts'
import { tensor } from './tensor.ts'

const known = new WeakMap<Runtime, boolean>()

/**
 * Returns true if products of unsigned and signed bytes are added exactly. The first call runs a product whose sum is
 * too large for 16 bits, and compares the result with the exact sum. The factors are inputs of the graph, not
 * constants. ONNX Runtime may change signed constants to unsigned bytes. The check would then test only unsigned bytes,
 * whose products are exact on every CPU.
 */
export function addsBytesExactly(runtime: Runtime): boolean {
  const exact = known.get(runtime) ?? productOf(runtime, 255, 127) === 4 * 255 * 127
  known.set(runtime, exact)
  return exact
}

/**
 * Lets ONNX Runtime multiply a row by a column, and returns the result. All four bytes of the row are `unsigned`, and
 * all four bytes of the column are `signed`. So the exact result is 4 × `unsigned` × `signed`. `addsBytesExactly` needs
 * a result above 16 bits, to see whether the CPU limits it. A single product always fits into 16 bits, so four products
 * are added.
 */
function productOf(runtime: Runtime, unsigned: number, signed: number): number | undefined {
  const length = 4
  const graph = new Graph()
  const row = graph.input('row', 'uint8', [1, length])
  const column = graph.input('column', 'int8', [length, 1])
  const sum = graph.add('Cast', [graph.add('MatMulInteger', [row, column])], { to: 1 }, ['sum'])
  graph.output(sum, 'float32', [1, 1])
  const options = pointerFrom(out => runtime.CreateSessionOptions(out))
  runtime.SetIntraOpNumThreads(options, 1)
  const session = createSession(runtime, graph.bytes(), options)
  runtime.ReleaseSessionOptions(options)
  const inputs = [
    tensor(runtime, 'uint8', new Uint8Array(length).fill(unsigned), [1, length]),
    tensor(runtime, 'int8', new Int8Array(length).fill(signed), [length, 1]),
  ]
  const [result] = session.run(['row', 'column'], ['sum'])(inputs)
  const [value] = result.floats(1)
  for (const used of [...inputs, result]) used.free()
  session.close()
  return value
}

// Computes the cost of one decoding step with steno's graphs for GPUs: bytes on the PCIe bus, graph nodes, kernels
// (functions on the GPU), and bytes read from GPU memory. For comparison, also computes the bytes on the bus for the
// ONNX graphs of onnx-community. The graphs have no weights, because only the shapes of the weights count.

import { floatDecoder } from '../../../src/engine/network/float-decoder.ts'
import type { FloatSize } from '../../../src/engine/network/float-size.ts'
import type { FloatWeights } from '../../../src/engine/network/float-weights.ts'
import { type Operation, readModel } from '../../../src/engine/onnx/weights.ts'
import { alignmentHeadsOf, type Dimensions, frames, positions, shapesOf } from './random-floats.ts'

export type Counted = {
  rows: number
  /**
   * The bytes that one decoding step copies over the PCIe bus: `busBefore` with the ONNX graphs of onnx-community,
   * `busAfter` with steno's graphs for GPUs.
   */
  busBefore: number
  busAfter: number
  nodes: number
  kernels: number
  /** The bytes that one decoding step (one token for each row of the batch) reads from GPU memory. */
  memoryBytes: number
}

/**
 * The number of tokens that each window already has before the decoding step whose cost is computed. This is about half
 * of the tokens of a window, so this step has about the mean cost of all steps.
 */
const tokens = 54
const bytes = { float16: 2, float32: 4, int64: 8 } as const

export function countStep(dimensions: Dimensions, rows: number): Counted {
  const { width, decoderLayers, aligned, vocabulary } = dimensions
  const { operations, weightBytes } = stepGraph(dimensions)
  const perRow = (length: number) => 2 * decoderLayers * length * width
  const caches = perRow(frames) + perRow(tokens) + aligned * 64 * frames
  const scores = 3 * vocabulary * bytes.float32
  return {
    rows,
    busBefore: rows * busBefore(dimensions),
    // For each window of the batch, five integers and four floats go to the GPU, and two floats come back. One more
    // integer goes to the GPU for the whole batch.
    busAfter: rows * (5 * bytes.int64 + 6 * bytes.float32) + bytes.int64,
    nodes: operations.length,
    kernels: operations.reduce((sum, operation) => sum + kernelsOf(operation), 0),
    memoryBytes: weightBytes + rows * (caches * bytes.float16 + scores),
  }
}

/**
 * Returns the bytes on the PCIe bus for one window in one decoding step, with the ONNX graphs of onnx-community. These
 * graphs read the encoder result and all caches from host memory. They return the token scores, the attention for the
 * word times, and the new caches.
 */
function busBefore({ width, heads, decoderLayers, aligned, vocabulary }: Dimensions): number {
  const perRow = (length: number) => 2 * decoderLayers * length * width
  const attendedLayers = Math.min(decoderLayers, aligned)
  const given = frames * width + perRow(frames) + perRow(tokens)
  const returned = vocabulary + perRow(tokens + 1) + attendedLayers * heads * frames
  return bytes.float32 * (given + returned)
}

/** Returns the operations of a decoding step, and the size in bytes of the weights that the step reads. */
function stepGraph(dimensions: Dimensions): { operations: Operation[]; weightBytes: number } {
  const { vocabulary } = dimensions
  const size: FloatSize = { ...dimensions, frames, positions, alignmentHeads: alignmentHeadsOf(dimensions) }
  const weights = emptyWeights(dimensions)
  const choice = { end: 50_257, firstTimestamp: vocabulary - 1501, vocabulary, suppressed: new Set<number>() }
  const layers = floatDecoder(weights, size, 'float16', choice)
  const model = readModel(layers.bytes())
  const known = new Set(model.constants.keys())
  const operations = model.operations.filter(({ inputs, outputs }) => {
    // ONNX Runtime computes an operation with constant inputs only once, when it loads the graph.
    const isConstant = inputs.every(name => name === '' || known.has(name))
    if (isConstant) for (const name of outputs) known.add(name)
    return !isConstant
  })
  const weightBytes = [...layers.used]
    .filter(([name]) => name !== 'decoder.embed_positions.weight')
    .reduce((sum, [, { dims }]) => sum + dims.reduce((product, each) => product * each, 1), 0)
  return { operations, weightBytes: weightBytes * bytes.float16 }
}

function emptyWeights(dimensions: Dimensions): FloatWeights {
  return new Map(
    [...shapesOf(dimensions)].map(([name, dims]) => [
      name,
      () => ({ type: 'F16', dims, bytes: new Uint8Array(0), transposed: dims.length === 2 }),
    ]),
  )
}

/** Operations without a kernel: they return their input, change its shape, or compute a shape on the host. */
const withoutKernel = new Set(['Reshape', 'Squeeze', 'Identity', 'Shape'])

/**
 * Returns the number of kernels of an operation, according to the source code of ONNX Runtime's CUDA provider.
 * `Attention` starts four kernels: two kernels fill buffers with zeros, one kernel computes parts of the result, and
 * one kernel joins the parts. With the input `lengths` (the number of cached tokens in each row), a fifth kernel
 * converts these numbers.
 */
function kernelsOf({ kind, inputs }: Operation): number {
  if (withoutKernel.has(kind)) return 0
  if (kind === 'Attention') return inputs.length > 3 ? 5 : 4
  return 1
}

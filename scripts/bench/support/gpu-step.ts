// Computes the cost of one decoding step on a GPU with steno's graphs for GPUs: the bytes that the PCIe bus copies, the
// numbers of graph nodes and of kernels, and the bytes that are read from the memory of the GPU. For comparison, the
// bytes on the PCIe bus are also computed for the published graphs (the ONNX files from Hugging Face). The computation
// needs only the shapes of the weights, so the graphs are made without the weights themselves.

import { floatDecoder } from '../../../src/engine/network/float-decoder.ts'
import type { FloatSize } from '../../../src/engine/network/float-size.ts'
import type { FloatWeights } from '../../../src/engine/network/float-weights.ts'
import { type Operation, readModel } from '../../../src/engine/onnx/weights.ts'
import { alignmentHeadsOf, type Dimensions, frames, positions, shapesOf } from './random-floats.ts'

export type Counted = {
  rows: number
  /**
   * The number of bytes that one decoding step copies over the PCIe bus: `busBefore` with the published graphs (the
   * ONNX files from Hugging Face), `busAfter` with steno's graphs for GPUs.
   */
  busBefore: number
  busAfter: number
  nodes: number
  kernels: number
  /** The bytes that one decoding step (one token for each row of the batch) reads from the memory of the GPU. */
  memoryBytes: number
}

/**
 * The number of tokens that were decoded before the step whose operations and bytes are counted. This is about half of
 * the tokens of a window.
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
    // For each window of the batch, five integers and four floats are copied to the GPU, and two floats are copied
    // back. One more integer is copied for the whole batch.
    busAfter: rows * (5 * bytes.int64 + 6 * bytes.float32) + bytes.int64,
    nodes: operations.length,
    kernels: operations.reduce((sum, operation) => sum + kernelsOf(operation), 0),
    memoryBytes: weightBytes + rows * (caches * bytes.float16 + scores),
  }
}

/**
 * Returns the number of bytes that one decoding step copies over the PCIe bus for one window, with the published graphs
 * (the ONNX files from Hugging Face). These graphs read the result of the encoder and all caches from the memory of the
 * host. They return three outputs to the host: the scores of the next token, the attention from which word times are
 * computed, and the keys and values of the tokens so far.
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
    // ONNX Runtime computes an operation with constant inputs only once, when it loads the graph. Such an operation is
    // not counted.
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

/** Operations without a kernel: they return their input, change only its shape, or compute a shape on the host. */
const withoutKernel = new Set(['Reshape', 'Squeeze', 'Identity', 'Shape'])

/**
 * Returns the number of kernels that an operation starts, according to the source code of ONNX Runtime's CUDA provider.
 * `Attention` starts four kernels. Two of them clear a buffer each, the third computes parts of the result, and the
 * fourth joins the parts. If `Attention` gets the lengths of the rows in a cache, a fifth kernel converts these
 * lengths.
 */
function kernelsOf({ kind, inputs }: Operation): number {
  if (withoutKernel.has(kind)) return 0
  if (kind === 'Attention') return inputs.length > 3 ? 5 : 4
  return 1
}

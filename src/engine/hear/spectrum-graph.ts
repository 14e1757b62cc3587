// The ONNX graph that computes the logarithms of the mel bands. The inputs are the folded frames of fold.ts: the sums
// and the differences of mirrored samples. The spectrum needs four matrix products, each with a matrix of about 100 ×
// 100 values. ONNX Runtime computes these products several times faster than JavaScript computes a fast Fourier
// transform.

import { samplesPerFft } from '../audio.ts'
import { bins, melFilters } from '../mel.ts'
import { Graph } from '../onnx/graph.ts'
import { type Folds, half, quarter } from './fold.ts'

/**
 * Builds the graph that computes the logarithms of the mel bands. Its inputs are the folded frames of fold.ts: the sums
 * and the differences of mirrored samples. The sums give the real part of the spectrum, and the differences give the
 * imaginary part. Each part needs two matrix products: one for the samples at even positions in the frame, and one for
 * the samples at odd positions.
 *
 * The products are computed only for the frequency bins k from 0 to 100. The sum of the two products gives bin k, and
 * their difference gives bin 200 - k. The difference may have the wrong sign, but the power does not depend on the
 * sign.
 */
export function spectrumGraph(mels: number): Uint8Array {
  const graph = new Graph()
  const { lower, upper } = addPowers(graph)
  const filters = melFilters(mels)
  const weights = (binOf: (k: number) => number, count: number) => {
    const data = new Float32Array((quarter + 1) * mels)
    for (let k = 0; k < count; k++)
      for (let mel = 0; mel < mels; mel++) data[k * mels + mel] = filters[mel * bins + binOf(k)]!
    return graph.constant({ dims: [quarter + 1, mels], data })
  }
  const sum = graph.add('Add', [
    graph.add('MatMul', [lower, weights(k => k, quarter + 1)]),
    graph.add('MatMul', [upper, weights(k => half - k, quarter)]),
  ])
  const positive = graph.add('Max', [sum, graph.scalar(1e-10)])
  const log = graph.add('Mul', [graph.add('Log', [positive]), graph.scalar(Math.LOG10E)])
  graph.add('Transpose', [log], { perm: [1, 0] }, ['mel'])
  graph.output('mel', 'float32', [mels, 'frames'])
  return graph.bytes()
}

/**
 * Adds operations that compute the power of the frequency bins. Returns the names of two results: `lower` has the bins
 * from 0 to 100 in ascending order, and `upper` has the bins from 200 to 100 in descending order.
 */
function addPowers(graph: Graph): { lower: string; upper: string } {
  const product = (name: keyof Folds, rows: number, wave: (n: number, k: number) => number) => {
    const data = new Float32Array(rows * (quarter + 1))
    for (let n = 0; n < rows; n++) for (let k = 0; k <= quarter; k++) data[n * (quarter + 1) + k] = wave(n, k)
    const input = graph.input(name, 'float32', ['frames', rows])
    return graph.add('MatMul', [input, graph.constant({ dims: [rows, quarter + 1], data })])
  }
  const angle = (steps: number) => (2 * Math.PI * (steps % samplesPerFft)) / samplesPerFft
  const evenEven = product('evenEven', quarter + 1, (n, k) => Math.cos(angle(2 * n * k)))
  const evenOdd = product('evenOdd', quarter, (n, k) => Math.cos(angle((2 * n + 1) * k)))
  const oddEven = product('oddEven', quarter + 1, (n, k) => Math.sin(angle(2 * n * k)))
  const oddOdd = product('oddOdd', quarter, (n, k) => Math.sin(angle((2 * n + 1) * k)))
  const square = (name: string) => graph.add('Mul', [name, name])
  const power = (sign: 'Add' | 'Sub') =>
    graph.add('Add', [
      square(graph.add(sign, [evenEven, evenOdd])),
      square(graph.add(sign, [oddOdd, oddEven])),
    ])
  return { lower: power('Add'), upper: power('Sub') }
}

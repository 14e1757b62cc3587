// The ONNX graph that computes the logarithms of the mel bands. The spectrum needs four products with matrices of about
// 100 × 100 values. ONNX Runtime computes these products several times faster than JavaScript computes a fast Fourier
// transform.

import { samplesPerFft } from '../audio.ts'
import { bins, melFilters } from '../mel.ts'
import { Graph } from '../onnx/graph.ts'
import { type Folds, half, quarter } from './fold.ts'

/**
 * Builds the graph that computes the logarithms of the mel bands. Its inputs are the sums and the differences of
 * samples with the same distance from the middle of the frame (`Folds`).
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
 * Adds operations that compute the power of the frequency bins. For each k from 0 to 100, `lower` has bin k, and
 * `upper` has bin 200 - k. Bin 100 is in `lower` and in `upper`, and the caller must use it only once.
 */
function addPowers(graph: Graph): { lower: string; upper: string } {
  const product = (name: keyof Folds, rows: number, wave: (n: number, k: number) => number) => {
    const data = new Float32Array(rows * (quarter + 1))
    for (let n = 0; n < rows; n++) for (let k = 0; k <= quarter; k++) data[n * (quarter + 1) + k] = wave(n, k)
    const input = graph.input(name, 'float32', ['frames', rows])
    return graph.add('MatMul', [input, graph.constant({ dims: [rows, quarter + 1], data })])
  }
  const period = (wave: (angle: number) => number) =>
    Float64Array.from({ length: samplesPerFft }, (_, step) => wave((2 * Math.PI * step) / samplesPerFft))
  const [cosine, sine] = [period(Math.cos), period(Math.sin)]
  // The inputs of the graph are made from pairs of samples with the same distance from the middle of the frame (see
  // `Folds`). The first word of an input's name is `even` for the sums of the pairs, and `odd` for their differences.
  // The products of sums and cosines give the real part of the spectrum. The products of differences and sines give the
  // imaginary part. The second word, `Even` or `Odd`, tells whether the two samples of a pair have even or odd
  // positions in the frame.
  const evenEven = product('evenEven', quarter + 1, (n, k) => cosine[(2 * n * k) % samplesPerFft]!)
  const evenOdd = product('evenOdd', quarter, (n, k) => cosine[((2 * n + 1) * k) % samplesPerFft]!)
  const oddEven = product('oddEven', quarter + 1, (n, k) => sine[(2 * n * k) % samplesPerFft]!)
  const oddOdd = product('oddOdd', quarter, (n, k) => sine[((2 * n + 1) * k) % samplesPerFft]!)
  // The real part of bin k is `evenEven` + `evenOdd`, and the imaginary part is `oddOdd` + `oddEven`. In bin 200 - k,
  // `evenOdd` and `oddEven` have the opposite sign, and the other two are the same. So the real part is `evenEven` -
  // `evenOdd`, and the imaginary part is `oddOdd` - `oddEven`. A Fourier transform would negate both imaginary parts.
  // This is not needed, because only squares are used.
  const square = (name: string) => graph.add('Mul', [name, name])
  const power = (sign: 'Add' | 'Sub') =>
    graph.add('Add', [
      square(graph.add(sign, [evenEven, evenOdd])),
      square(graph.add(sign, [oddOdd, oddEven])),
    ])
  return { lower: power('Add'), upper: power('Sub') }
}

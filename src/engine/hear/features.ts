// Computes the log-mel spectrogram that Whisper reads. Each spectrogram frame is 10 ms. For each frame: multiplies 400
// samples by a Hann window, and computes the power spectrum, the mel bands, and the logarithms.
//
// The Fourier transform is computed as matrix products, in two steps that make the matrices smaller. First, each frame
// is folded at its middle: the even part is the sums of mirrored samples, and the odd part is their differences. The
// even part gives the real half of the spectrum, and the odd part gives the imaginary half. Second, each part is
// divided into the samples at even positions and the samples at odd positions, and each of them is multiplied by a
// matrix. For the lower half of the frequency bins, the two products are added. For the upper half, one product is
// subtracted from the other. In total, there are four products with matrices of about 100 × 100. ONNX Runtime computes
// these products several times faster than JavaScript computes a fast Fourier transform.

import { samplesPerFft, samplesPerMelFrame, windowMelFrames } from '../audio.ts'
import { bins, melFilters } from '../mel.ts'
import { Graph } from '../onnx/graph.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openSession, tensor } from '../onnx/session.ts'

const half = samplesPerFft / 2
const quarter = half / 2

export type Features = {
  mels: number
  /** Returns the spectrogram of at most 30 s of sound: mels × 3000 values, one mel band after the other. */
  logMel(samples: Float32Array): Float32Array
  close(): void
}

export function openFeatures(runtime: Runtime, mels: number): Features {
  const session = openSession(runtime, spectrumGraph(mels), 'cpu', null, { singleThreaded: true })
  const run = session.run(['evenEven', 'evenOdd', 'oddEven', 'oddOdd'], ['mel'])
  const folds: Folds = {
    evenEven: new Float32Array(windowMelFrames * (quarter + 1)),
    evenOdd: new Float32Array(windowMelFrames * quarter),
    oddEven: new Float32Array(windowMelFrames * (quarter + 1)),
    oddOdd: new Float32Array(windowMelFrames * quarter),
  }
  return {
    mels,
    logMel: samples => {
      // Computes only the spectrogram frames that overlap the sound. `pictureOf` fills all other frames with the value
      // of silence.
      const frames = Math.min(windowMelFrames, Math.ceil((samples.length + half) / samplesPerMelFrame))
      fold(samples, frames, folds)
      const inputs = [folds.evenEven, folds.evenOdd, folds.oddEven, folds.oddOdd].map(data =>
        tensor(runtime, 'float32', data, [frames, data.length / windowMelFrames]),
      )
      const [mel] = run(inputs)
      const picture = pictureOf(mel.floats(mels * frames), mels, frames)
      for (const used of [...inputs, mel]) used.free()
      return picture
    },
    close: () => session.close(),
  }
}

/**
 * Makes the spectrogram from the logarithms (base 10) of the mel bands. The lowest allowed value is the highest value
 * minus 8. Lower values are replaced by this lowest value. All values are then scaled as in openai/whisper.
 */
function pictureOf(log: Float32Array, mels: number, frames: number): Float32Array {
  const picture = new Float32Array(mels * windowMelFrames)
  let highest = -10
  for (let at = 0; at < log.length; at++) if (log[at]! > highest) highest = log[at]!
  const floor = highest - 8
  picture.fill((Math.max(-10, floor) + 4) / 4)
  for (let mel = 0; mel < mels; mel++) {
    for (let frame = 0, from = mel * frames, to = mel * windowMelFrames; frame < frames; frame++) {
      const value = log[from++]!
      picture[to++] = (Math.max(value, floor) + 4) / 4
    }
  }
  return picture
}

const hann = Float64Array.from(
  { length: samplesPerFft },
  (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / samplesPerFft),
)

/**
 * Returns sample `at` of the sound. A negative position returns the mirrored sample. A position after the end returns
 * 0.
 */
function sampleAt(samples: Float32Array, at: number): number {
  return samples[at < 0 ? -at : at] ?? 0
}

/**
 * The four folded parts of a frame. The first word of a name is the symmetry of the part: even or odd. The second word
 * is the position of the samples in the frame: even or odd.
 */
type Folds = { evenEven: Float32Array; evenOdd: Float32Array; oddEven: Float32Array; oddOdd: Float32Array }

function fold(samples: Float32Array, frames: number, { evenEven, evenOdd, oddEven, oddOdd }: Folds): void {
  const frame = new Float32Array(samplesPerFft)
  for (let index = 0; index < frames; index++) {
    const from = index * samplesPerMelFrame - half
    if (from >= 0 && from + samplesPerFft <= samples.length) {
      for (let n = 1; n < samplesPerFft; n++) frame[n] = samples[from + n]! * hann[n]!
    } else {
      for (let n = 1; n < samplesPerFft; n++) frame[n] = mirrored(samples, from + n) * hann[n]!
    }
    const wide = index * (quarter + 1)
    const narrow = index * quarter
    evenEven[wide] = 0
    oddEven[wide] = 0
    for (let n = 2, at = wide + 1; n < half; n += 2, at++) {
      const left = frame[n]!
      const right = frame[samplesPerFft - n]!
      evenEven[at] = left + right
      oddEven[at] = left - right
    }
    evenEven[wide + quarter] = frame[half]!
    oddEven[wide + quarter] = 0
    for (let n = 1, at = narrow; n < half; n += 2, at++) {
      const left = frame[n]!
      const right = frame[samplesPerFft - n]!
      evenOdd[at] = left + right
      oddOdd[at] = left - right
    }
  }
}

/**
 * Returns sample `at` of the padded sound. As in Whisper, silence after the sound fills the window of 30 s, and the
 * sound is mirrored at both ends of the window.
 */
function mirrored(samples: Float32Array, at: number): number {
  const length = windowMelFrames * samplesPerMelFrame
  return at >= length ? sampleAt(samples, 2 * (length - 1) - at) : sampleAt(samples, at)
}

/**
 * Builds the graph that converts folded frames to the logarithms of the mel bands. The real half and the imaginary half
 * of the spectrum each need two products: one of the samples at even positions, and one of the samples at odd
 * positions. The frequency bins k and 200 - k both use these two products. For bin k, the products are added. For bin
 * 200 - k, one product is subtracted from the other.
 */
function spectrumGraph(mels: number): Uint8Array {
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
 * Adds operations that compute the power of the frequency bins. `lower` is the bins 0 to 100. `upper` is the bins 200
 * down to 100.
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

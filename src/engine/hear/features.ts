// Computes the log-mel spectrogram that Whisper reads. For every 10 ms of sound: a Hann window of 400
// samples, the power spectrum, the mel filters, the logarithm.
//
// The Fourier transform is split twice, and then computed as matrix products. First, each frame is folded
// into an even part and an odd part. The even part yields the real half of the spectrum, the odd part the
// imaginary half. Second, each part is split into its even and its odd samples. Their sums yield the lower
// quarter of the bins; their differences yield the mirrored upper quarter. Four dense products of about 100 ×
// 100 remain. ONNX Runtime computes them several times faster than JavaScript computes a fast Fourier
// transform.

import { samplesPerFft, samplesPerMelFrame, windowMelFrames } from '../audio.ts'
import { bins, melFilters } from '../mel.ts'
import { Graph } from '../onnx/graph.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openSession, tensor } from '../onnx/session.ts'

const half = samplesPerFft / 2
const quarter = half / 2

export type Features = {
  mels: number
  /** Returns the spectrogram of up to 30 s of sound: mels × 3000 values, one mel band after the other. */
  logMel(samples: Float32Array): Float32Array
  close(): void
}

export function openFeatures(runtime: Runtime, mels: number): Features {
  const session = openSession(runtime, spectrumGraph(mels))
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
      // Computes only the frames that overlap the sound. All other frames have the value of silence, which is known.
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
 * Raises all values to at least the floor: 8 decades below the highest value. Then scales the values as
 * openai/whisper does.
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

/** Returns sample `at` of the sound. The sound is mirrored before its start, and silence follows its end. */
function sampleAt(samples: Float32Array, at: number): number {
  return samples[at < 0 ? -at : at] ?? 0
}

/**
 * The four folded parts of a frame. In each name, the first word names the part of the frame (even or odd function),
 * and the second word names the samples of that part (at even or odd positions).
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
 * Returns sample `at` of the padded sound. As in Whisper, silence extends the sound to 30 s, and both ends
 * are mirrored.
 */
function mirrored(samples: Float32Array, at: number): number {
  const length = windowMelFrames * samplesPerMelFrame
  return at >= length ? sampleAt(samples, 2 * (length - 1) - at) : sampleAt(samples, at)
}

/**
 * Builds the graph that converts folded frames to log mels. Bin k and bin 200 - k use the same two products: one of
 * the even samples, one of the odd samples. For the lower bin, the two products are added. For the upper bin, one
 * product is subtracted from the other: the odd samples from the even ones for the cosines, and the even samples from
 * the odd ones for the sines.
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
 * Adds operations that compute the power of the bins in the lower quarter of the spectrum, and in the
 * mirrored upper quarter.
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

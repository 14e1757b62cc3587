// Sound to the log-mel picture that Whisper reads: 400-sample Hann windows every 10 ms, power spectrum, mel
// filters, logarithm.
//
// The spectrum is a Fourier transform whose two outermost steps are done by hand: each windowed frame is folded
// into its even and odd part (real and imaginary half of the spectrum) and each of those into its even and odd
// samples (lower and mirrored upper quarter). What is left are four dense products of about 100 × 100, which
// ONNX Runtime does several times faster than a JavaScript FFT does the whole (docs: scripts/bench/features.ts).

import { sampleRate, samplesPerFft, samplesPerMelFrame, windowMelFrames } from '../audio.ts'
import { Graph } from '../onnx/graph.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openSession, type Run, tensor } from '../onnx/session.ts'

const half = samplesPerFft / 2
const quarter = half / 2
export const bins = half + 1

export type Features = {
  mels: number
  /** Up to 30 s of sound to a [mels × 3000] picture, in the order of its rows. */
  logMel(samples: Float32Array): Float32Array
  close(): void
}

export function openFeatures(runtime: Runtime, mels: number): Features {
  const session = openSession(runtime, spectrumGraph(mels))
  const run = session.run(['evenEven', 'evenOdd', 'oddEven', 'oddOdd'], ['mel'])
  const folds = [quarter + 1, quarter, quarter + 1, quarter].map(
    width => new Float32Array(windowMelFrames * width),
  )
  return {
    mels,
    logMel: samples => picture(runtime, run, folds, mels, samples),
    close: () => session.close(),
  }
}

function picture(
  runtime: Runtime,
  run: Run,
  folds: Float32Array[],
  mels: number,
  samples: Float32Array,
): Float32Array {
  // Frames that see any sound; the rest of the 30 s is silence, whose value is known.
  const frames = Math.min(windowMelFrames, Math.ceil((samples.length + half) / samplesPerMelFrame))
  fold(samples, frames, folds)
  const inputs = folds.map(each => tensor(runtime, 'float32', each, [frames, each.length / windowMelFrames]))
  const [output] = run(inputs)
  const log = output!.floats(mels * frames)
  const picture = new Float32Array(mels * windowMelFrames)
  let loudest = -10
  for (let at = 0; at < log.length; at++) if (log[at]! > loudest) loudest = log[at]!
  const floor = loudest - 8
  picture.fill((Math.max(-10, floor) + 4) / 4)
  for (let mel = 0; mel < mels; mel++) {
    for (let frame = 0, from = mel * frames, to = mel * windowMelFrames; frame < frames; frame++) {
      const value = log[from++]!
      picture[to++] = (Math.max(value, floor) + 4) / 4
    }
  }
  for (const each of [...inputs, output!]) each.free()
  return picture
}

const hann = Float64Array.from(
  { length: samplesPerFft },
  (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / samplesPerFft),
)

/** Sample `at` of the sound, mirrored at its start, with silence after its end. */
function sampleAt(samples: Float32Array, at: number): number {
  return samples[at < 0 ? -at : at] ?? 0
}

function fold(
  samples: Float32Array,
  frames: number,
  [evenEven, evenOdd, oddEven, oddOdd]: Float32Array[],
): void {
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
    evenEven![wide] = 0
    oddEven![wide] = 0
    for (let n = 2, at = wide + 1; n < half; n += 2, at++) {
      const left = frame[n]!
      const right = frame[samplesPerFft - n]!
      evenEven![at] = left + right
      oddEven![at] = left - right
    }
    evenEven![wide + quarter] = frame[half]!
    oddEven![wide + quarter] = 0
    for (let n = 1, at = narrow; n < half; n += 2, at++) {
      const left = frame[n]!
      const right = frame[samplesPerFft - n]!
      evenOdd![at] = left + right
      oddOdd![at] = left - right
    }
  }
}

/** Whisper pads to 30 s with silence and then mirrors at both ends; a full window mirrors at its end too. */
function mirrored(samples: Float32Array, at: number): number {
  const length = windowMelFrames * samplesPerMelFrame
  return at >= length ? sampleAt(samples, 2 * (length - 1) - at) : sampleAt(samples, at)
}

/**
 * Bin k and its mirror image 200 - k come from the same two sums: even samples ± odd samples for the cosines,
 * odd ± even for the sines.
 */
function spectrumGraph(mels: number): Uint8Array {
  const graph = new Graph()
  const wide = ['frames', quarter + 1] as const
  const narrow = ['frames', quarter] as const
  const product = (input: string, rows: number, wave: (n: number, k: number) => number) => {
    const data = new Float32Array(rows * (quarter + 1))
    for (let n = 0; n < rows; n++) for (let k = 0; k <= quarter; k++) data[n * (quarter + 1) + k] = wave(n, k)
    return graph.add('MatMul', [input, graph.constant({ dims: [rows, quarter + 1], data })])
  }
  const turn = (steps: number) => (2 * Math.PI * (steps % samplesPerFft)) / samplesPerFft
  const evenEven = product(graph.input('evenEven', 'float32', wide), quarter + 1, (n, k) =>
    Math.cos(turn(2 * n * k)),
  )
  const evenOdd = product(graph.input('evenOdd', 'float32', narrow), quarter, (n, k) =>
    Math.cos(turn((2 * n + 1) * k)),
  )
  const oddEven = product(graph.input('oddEven', 'float32', wide), quarter + 1, (n, k) =>
    Math.sin(turn(2 * n * k)),
  )
  const oddOdd = product(graph.input('oddOdd', 'float32', narrow), quarter, (n, k) =>
    Math.sin(turn((2 * n + 1) * k)),
  )
  const square = (name: string) => graph.add('Mul', [name, name])
  const power = (sign: 'Add' | 'Sub') =>
    graph.add('Add', [
      square(graph.add(sign, [evenEven, evenOdd])),
      square(graph.add(sign, [oddOdd, oddEven])),
    ])
  const filters = melFilters(mels)
  const weights = (binOf: (k: number) => number, count: number) => {
    const data = new Float32Array((quarter + 1) * mels)
    for (let k = 0; k < count; k++)
      for (let mel = 0; mel < mels; mel++) data[k * mels + mel] = filters[mel * bins + binOf(k)]!
    return graph.constant({ dims: [quarter + 1, mels], data })
  }
  const lower = graph.add('MatMul', [power('Add'), weights(k => k, quarter + 1)])
  const upper = graph.add('MatMul', [power('Sub'), weights(k => half - k, quarter)])
  const sum = graph.add('Max', [graph.add('Add', [lower, upper]), graph.scalar(1e-10)])
  const log = graph.add('Mul', [graph.add('Log', [sum]), graph.scalar(Math.LOG10E)])
  graph.add('Transpose', [log], { perm: [1, 0] }, ['mel'])
  graph.output('mel', 'float32', [mels, 'frames'])
  return graph.bytes()
}

/** Slaney's mel scale: linear to 1 kHz, logarithmic above; triangles of equal area. [mels × 201] */
export function melFilters(mels: number): Float32Array {
  const hzPerMel = 200 / 3
  const bend = 1000 / hzPerMel
  const step = Math.log(6.4) / 27
  const hz = (mel: number) => (mel < bend ? mel * hzPerMel : 1000 * Math.exp(step * (mel - bend)))
  const top = bend + Math.log(sampleRate / 2 / 1000) / step
  const corners = Array.from({ length: mels + 2 }, (_, index) => hz((top * index) / (mels + 1)))
  const filters = new Float32Array(mels * bins)
  for (let mel = 0; mel < mels; mel++) {
    const [low, middle, high] = corners.slice(mel, mel + 3) as [number, number, number]
    for (let bin = 0; bin < bins; bin++) {
      const at = (bin * sampleRate) / samplesPerFft
      const weight = Math.min((at - low) / (middle - low), (high - at) / (high - middle))
      if (weight > 0) filters[mel * bins + bin] = (weight * 2) / (high - low)
    }
  }
  return filters
}

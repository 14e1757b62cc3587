// Kaldi's filterbank features, which models of voices read: 25 ms every 10 ms, no frame over the edges, the mean
// taken off, high tones lifted, Hamming window, power spectrum of 512 points, 80 mel bands from 20 to 8000 Hz.
//
// All up to the spectrum is linear: it becomes one product of a frame with a matrix, which ONNX Runtime does faster
// than JavaScript a transform.

import { sampleRate, samplesPerFft, samplesPerMelFrame } from '../audio.ts'
import { Graph } from '../onnx/graph.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openSession, tensor } from '../onnx/session.ts'

export const bands = 80
const points = 512
const spectrum = points / 2
const lift = 0.97
const lowest = 20
/** Models of this kind were shown samples as 16-bit numbers. */
const scale = 32_768
const least = 1.1920929e-7

export type Fbank = {
  /** [frames × 80] of the sound; a frame that would reach over its end is left out. */
  of(samples: Float32Array): Float32Array
  close(): void
}

export function framesIn(samples: number): number {
  return samples < samplesPerFft ? 0 : 1 + Math.floor((samples - samplesPerFft) / samplesPerMelFrame)
}

export function openFbank(runtime: Runtime): Fbank {
  const session = openSession(runtime, featureGraph())
  const run = session.run(['frames'], ['features'])
  return {
    of: samples => {
      const frames = framesIn(samples.length)
      if (frames === 0) return new Float32Array(0)
      const cut = new Float32Array(frames * samplesPerFft)
      for (let frame = 0; frame < frames; frame++) {
        const from = frame * samplesPerMelFrame
        cut.set(samples.subarray(from, from + samplesPerFft), frame * samplesPerFft)
      }
      const input = tensor(runtime, 'float32', cut, [frames, samplesPerFft])
      const [output] = run([input])
      const features = output!.floats(frames * bands).slice()
      for (const each of [input, output!]) each.free()
      return features
    },
    close: () => session.close(),
  }
}

function featureGraph(): Uint8Array {
  const graph = new Graph()
  const frames = graph.input('frames', 'float32', ['frames', samplesPerFft])
  const square = (wave: (angle: number) => number) => {
    const product = graph.add('MatMul', [
      frames,
      graph.constant({ dims: [samplesPerFft, spectrum], data: waves(wave) }),
    ])
    return graph.add('Mul', [product, product])
  }
  const power = graph.add('Add', [square(Math.cos), square(Math.sin)])
  const mel = graph.add('MatMul', [power, graph.constant({ dims: [spectrum, bands], data: melBands() })])
  graph.add('Log', [graph.add('Max', [mel, graph.scalar(least)])], {}, ['features'])
  graph.output('features', 'float32', ['frames', bands])
  return graph.bytes()
}

/** What each sample of a frame adds to each bin, after scaling, mean, lift and window. [400 × 256] */
function waves(wave: (angle: number) => number): Float32Array {
  const turn = (2 * Math.PI) / points
  const matrix = new Float32Array(samplesPerFft * spectrum)
  for (let bin = 0; bin < spectrum; bin++) {
    const windowed = Float64Array.from({ length: samplesPerFft }, (_, n) => {
      const hamming = 0.54 - 0.46 * Math.cos((2 * Math.PI * n) / (samplesPerFft - 1))
      return hamming * wave(turn * ((bin * n) % points)) * scale
    })
    // Each sample appears as itself and, lowered, in the one after it; the first one is its own predecessor.
    const lifted = windowed.map((value, n) => value - lift * (windowed[n + 1] ?? 0))
    lifted[0]! -= lift * windowed[0]!
    const mean = lifted.reduce((sum, each) => sum + each, 0) / samplesPerFft
    for (let n = 0; n < samplesPerFft; n++) matrix[n * spectrum + bin] = lifted[n]! - mean
  }
  return matrix
}

/** Triangles that are even on the mel scale. [256 × 80] */
function melBands(): Float32Array {
  const mel = (hertz: number) => 1127 * Math.log(1 + hertz / 700)
  const low = mel(lowest)
  const step = (mel(sampleRate / 2) - low) / (bands + 1)
  const matrix = new Float32Array(spectrum * bands)
  for (let bin = 0; bin < spectrum; bin++) {
    const at = (mel((bin * sampleRate) / points) - low) / step
    for (let band = 0; band < bands; band++) {
      const height = Math.min(at - band, band + 2 - at)
      if (height > 0) matrix[bin * bands + band] = height
    }
  }
  return matrix
}

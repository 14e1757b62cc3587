// Computes the power of sound in frequency bands, or the logarithm of this power. A frame of 25 ms begins every 10 ms.
// Matrix products replace all steps from the samples to the spectrum. ONNX Runtime computes these products faster than
// JavaScript computes a Fourier transform.

import { samplesPerFft, samplesPerMelFrame } from '../audio.ts'
import { Graph } from '../onnx/graph.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openSession, tensor } from '../onnx/session.ts'

/** The number of frames in one run of the graph. These frames fit into the cache of a CPU core. */
const batchFrames = 256

type Recipe = {
  /**
   * Returns a matrix of 400 × bins values: the weight of each sample in each bin of the spectrum. `wave` is cosine
   * (real part) or sine (imaginary part).
   */
  spectrum: (wave: (angle: number) => number) => Float32Array
  /** A matrix of bins × `bands` values: the weight of each bin in each band. */
  filters: Float32Array
  bands: number
  /** If given, the result is the logarithm of the power. A power below this value counts as this value. */
  logarithmOfAtLeast?: number
}

export type FrameBands = {
  /**
   * Returns the power in each band for the first `frames` frames: `frames` × bands values. If the recipe has
   * `logarithmOfAtLeast`, returns the logarithms of the powers.
   */
  of(samples: Float32Array, frames: number): Float32Array
  close(): void
}

export function openFrameBands(runtime: Runtime, recipe: Recipe): FrameBands {
  const session = openSession(runtime, featureGraph(recipe))
  const run = session.run(['frames'], ['features'])
  const frames = new Float32Array(batchFrames * samplesPerFft)
  return {
    of: (samples, count) => {
      const features = new Float32Array(count * recipe.bands)
      for (let first = 0; first < count; first += batchFrames) {
        const size = Math.min(batchFrames, count - first)
        for (let row = 0; row < size; row++) {
          const from = (first + row) * samplesPerMelFrame
          frames.set(samples.subarray(from, from + samplesPerFft), row * samplesPerFft)
        }
        const input = tensor(runtime, 'float32', frames.subarray(0, size * samplesPerFft), [
          size,
          samplesPerFft,
        ])
        const [output] = run([input])
        features.set(output.floats(size * recipe.bands), first * recipe.bands)
        for (const used of [input, output]) used.free()
      }
      return features
    },
    close: () => session.close(),
  }
}

function featureGraph({ spectrum, filters, bands, logarithmOfAtLeast }: Recipe): Uint8Array {
  const bins = filters.length / bands
  const graph = new Graph()
  const frames = graph.input('frames', 'float32', ['frames', samplesPerFft])
  const square = (wave: (angle: number) => number) => {
    const matrix = graph.constant({ dims: [samplesPerFft, bins], data: spectrum(wave) })
    const product = graph.add('MatMul', [frames, matrix])
    return graph.add('Mul', [product, product])
  }
  const power = graph.add('Add', [square(Math.cos), square(Math.sin)])
  const weights = graph.constant({ dims: [bins, bands], data: filters })
  if (logarithmOfAtLeast === undefined) {
    graph.add('MatMul', [power, weights], {}, ['features'])
  } else {
    const raised = graph.add('Max', [graph.add('MatMul', [power, weights]), graph.scalar(logarithmOfAtLeast)])
    graph.add('Log', [raised], {}, ['features'])
  }
  graph.output('features', 'float32', ['frames', bands])
  return graph.bytes()
}

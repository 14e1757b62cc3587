// Computes the features of the built-in voice encoder: the power in 40 mel bands, without a logarithm. A frame has 25
// ms of sound. The middle of the first frame is the first sample, and frames are 10 ms apart. The sound is padded
// with silence at both ends.
//
// The Hann window and the Fourier transform are combined into one product of a frame and a matrix, as in fbank.ts.

import { samplesPerFft, samplesPerMelFrame } from '../audio.ts'
import { bins, melFilters } from '../mel.ts'
import { Graph } from '../onnx/graph.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openSession, tensor } from '../onnx/session.ts'

export const melBands = 40

export type PowerMel = {
  /** Returns the features of the sound, frames × 40. */
  of(samples: Float32Array): Float32Array
  close(): void
}

export function openPowerMel(runtime: Runtime): PowerMel {
  const session = openSession(runtime, featureGraph())
  const run = session.run(['frames'], ['features'])
  return {
    of: samples => {
      const count = 1 + Math.floor(samples.length / samplesPerMelFrame)
      const padded = new Float32Array(samples.length + samplesPerFft)
      padded.set(samples, samplesPerFft / 2)
      const frames = new Float32Array(count * samplesPerFft)
      for (let frame = 0; frame < count; frame++) {
        const from = frame * samplesPerMelFrame
        frames.set(padded.subarray(from, from + samplesPerFft), frame * samplesPerFft)
      }
      const input = tensor(runtime, 'float32', frames, [count, samplesPerFft])
      const [output] = run([input])
      const features = output.floats(count * melBands).slice()
      for (const used of [input, output]) used.free()
      return features
    },
    close: () => session.close(),
  }
}

function featureGraph(): Uint8Array {
  const graph = new Graph()
  const frames = graph.input('frames', 'float32', ['frames', samplesPerFft])
  const square = (wave: (angle: number) => number) => {
    const matrix = graph.constant({ dims: [samplesPerFft, bins], data: spectrumMatrix(wave) })
    const product = graph.add('MatMul', [frames, matrix])
    return graph.add('Mul', [product, product])
  }
  const power = graph.add('Add', [square(Math.cos), square(Math.sin)])
  const filters = melFilters(melBands)
  const data = Float32Array.from(
    filters,
    (_, at) => filters[(at % melBands) * bins + Math.floor(at / melBands)]!,
  )
  graph.add('MatMul', [power, graph.constant({ dims: [bins, melBands], data })], {}, ['features'])
  graph.output('features', 'float32', ['frames', melBands])
  return graph.bytes()
}

/**
 * Returns a matrix, 400 × 201: the weight of each sample of a frame in each bin of the spectrum, with a Hann window.
 */
function spectrumMatrix(wave: (angle: number) => number): Float32Array {
  const turn = (2 * Math.PI) / samplesPerFft
  return Float32Array.from({ length: samplesPerFft * bins }, (_, at) => {
    const [n, bin] = [Math.floor(at / bins), at % bins]
    return (0.5 - 0.5 * Math.cos(turn * n)) * wave(turn * ((bin * n) % samplesPerFft))
  })
}

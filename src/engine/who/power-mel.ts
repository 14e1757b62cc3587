// Computes the features of the built-in voice encoder: the power in 40 mel bands, without a logarithm. A frame of 25 ms
// starts every 10 ms. The sound is padded with silence, so that the first frame is centred on the first sample.

import { samplesPerFft, samplesPerMelFrame } from '../audio.ts'
import { bins, melFilters } from '../mel.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openFrameBands } from './frame-bands.ts'

export const melBands = 40

export type PowerMel = {
  /** Returns the features of the sound: 40 values for each frame. */
  of(samples: Float32Array): Float32Array
  close(): void
}

export function openPowerMel(runtime: Runtime): PowerMel {
  const byBand = melFilters(melBands)
  const filters = Float32Array.from(
    byBand,
    (_, at) => byBand[(at % melBands) * bins + Math.floor(at / melBands)]!,
  )
  const frameBands = openFrameBands(runtime, { spectrum: spectrumMatrix, filters, bands: melBands })
  return {
    of: samples => {
      const padded = new Float32Array(samples.length + samplesPerFft)
      padded.set(samples, samplesPerFft / 2)
      return frameBands.of(padded, 1 + Math.floor(samples.length / samplesPerMelFrame))
    },
    close: frameBands.close,
  }
}

/** Returns the weight of each of 400 samples in each of 201 bins of the spectrum. The weights include a Hann window. */
function spectrumMatrix(wave: (angle: number) => number): Float32Array {
  const turn = (2 * Math.PI) / samplesPerFft
  const waves = Float64Array.from({ length: samplesPerFft }, (_, point) => wave(turn * point))
  const matrix = new Float32Array(samplesPerFft * bins)
  for (let n = 0; n < samplesPerFft; n++) {
    const hann = 0.5 - 0.5 * Math.cos(turn * n)
    for (let bin = 0; bin < bins; bin++) matrix[n * bins + bin] = hann * waves[(bin * n) % samplesPerFft]!
  }
  return matrix
}

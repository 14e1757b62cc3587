// Computes Kaldi's filterbank features, the input of embedding models. A frame of 25 ms begins every 10 ms. A last
// frame that is incomplete is left out. The steps for each frame are: subtraction of the mean, pre-emphasis, Hamming
// window, power spectrum of 512 points, 80 mel bands from 20 to 8000 Hz.

import { sampleRate, samplesPerFft, samplesPerMelFrame } from '../audio.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openFrameBands } from './frame-bands.ts'

export const bands = 80
const fftPoints = 512
const bins = fftPoints / 2
const preEmphasis = 0.97
const lowestHertz = 20
/** The factor for the samples, because the models were trained on samples of 16-bit integers. */
const sampleScale = 32_768
/**
 * The lowest power: the machine epsilon of 32-bit floats, as in Kaldi. With this limit, the logarithm of silence is
 * finite.
 */
const powerMin = 1.1920929e-7

export type Fbank = {
  /** Returns the features of the sound, frames × 80. Samples after the last complete frame are ignored. */
  of(samples: Float32Array): Float32Array
  close(): void
}

export function framesIn(samples: number): number {
  return samples < samplesPerFft ? 0 : 1 + Math.floor((samples - samplesPerFft) / samplesPerMelFrame)
}

export function openFbank(runtime: Runtime): Fbank {
  const frameBands = openFrameBands(runtime, {
    spectrum: spectrumMatrix,
    filters: melMatrix(),
    bands,
    logarithmOfAtLeast: powerMin,
  })
  return {
    of: samples => {
      const frames = framesIn(samples.length)
      return frames === 0 ? new Float32Array(0) : frameBands.of(samples, frames)
    },
    close: frameBands.close,
  }
}

/**
 * Returns a matrix of 400 × 256: the weight of each sample of a frame in each bin of the spectrum. The matrix
 * combines all linear steps: scale, mean, pre-emphasis, window, Fourier transform.
 */
function spectrumMatrix(wave: (angle: number) => number): Float32Array {
  const turn = (2 * Math.PI) / fftPoints
  const matrix = new Float32Array(samplesPerFft * bins)
  for (let bin = 0; bin < bins; bin++) {
    const windowed = Float64Array.from({ length: samplesPerFft }, (_, n) => {
      const hamming = 0.54 - 0.46 * Math.cos((2 * Math.PI * n) / (samplesPerFft - 1))
      return hamming * wave(turn * ((bin * n) % fftPoints)) * sampleScale
    })
    // Pre-emphasis subtracts a fraction of the previous sample from each sample. The first sample has no previous
    // one, so the fraction of the first sample itself is subtracted from it.
    const emphasised = windowed.map((value, n) => value - preEmphasis * (windowed[n + 1] ?? 0))
    emphasised[0]! -= preEmphasis * windowed[0]!
    const mean = emphasised.reduce((sum, value) => sum + value, 0) / samplesPerFft
    for (let n = 0; n < samplesPerFft; n++) matrix[n * bins + bin] = emphasised[n]! - mean
  }
  return matrix
}

/** Returns a matrix of 256 × 80: triangular filters that are evenly spaced on the mel scale. */
function melMatrix(): Float32Array {
  const mel = (hertz: number) => 1127 * Math.log(1 + hertz / 700)
  const low = mel(lowestHertz)
  const step = (mel(sampleRate / 2) - low) / (bands + 1)
  const matrix = new Float32Array(bins * bands)
  for (let bin = 0; bin < bins; bin++) {
    const at = (mel((bin * sampleRate) / fftPoints) - low) / step
    for (let band = 0; band < bands; band++) {
      const height = Math.min(at - band, band + 2 - at)
      if (height > 0) matrix[bin * bands + band] = height
    }
  }
  return matrix
}

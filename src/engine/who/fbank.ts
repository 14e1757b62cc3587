// Computes Kaldi's filterbank features, the input of embedding models. A frame of 25 ms begins every 10 ms. If the last
// frame is incomplete, it is left out. The steps for each frame are: subtraction of the mean, pre-emphasis, Hamming
// window, power spectrum of 512 points, 80 mel bands from 20 to 8000 Hz.

import { sampleRate, samplesPerFft, samplesPerMelFrame } from '../audio.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openFrameBands } from './frame-bands.ts'

export const bands = 80
const fftPoints = 512
const bins = fftPoints / 2
const preEmphasis = 0.97
const lowestHertz = 20
/**
 * The factor by which samples are multiplied. The embedding models were trained on 16-bit integers (-32,768 to 32,767),
 * but steno's samples are floats from -1 to 1.
 */
const sampleScale = 32_768
/**
 * The lowest power in a band: the machine epsilon of 32-bit floats, as in Kaldi. A lower power is raised to this value,
 * so that the logarithm of silence is finite.
 */
const powerMin = 1.1920929e-7

export type Fbank = {
  /** Returns the features of the sound: 80 values for each frame. Samples after the last complete frame are ignored. */
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
 * Returns a matrix of 400 × 256 values: the weight of each sample of a frame in each bin of the spectrum. The matrix
 * combines all linear steps: scale, subtraction of the mean, pre-emphasis, window and Fourier transform.
 */
function spectrumMatrix(wave: (angle: number) => number): Float32Array {
  const turn = (2 * Math.PI) / fftPoints
  const matrix = new Float32Array(samplesPerFft * bins)
  for (let bin = 0; bin < bins; bin++) {
    const windowed = Float64Array.from({ length: samplesPerFft }, (_, n) => {
      const hamming = 0.54 - 0.46 * Math.cos((2 * Math.PI * n) / (samplesPerFft - 1))
      return hamming * wave(turn * ((bin * n) % fftPoints)) * sampleScale
    })
    // Pre-emphasis subtracts a fraction of each sample from the next sample. So the weight of sample n depends on
    // `windowed[n + 1]`, the weight of the next sample. The first sample has no previous sample, so a fraction of the
    // first sample is subtracted from the first sample itself.
    const emphasised = windowed.map((value, n) => value - preEmphasis * (windowed[n + 1] ?? 0))
    emphasised[0]! -= preEmphasis * windowed[0]!
    const mean = emphasised.reduce((sum, value) => sum + value, 0) / samplesPerFft
    for (let n = 0; n < samplesPerFft; n++) matrix[n * bins + bin] = emphasised[n]! - mean
  }
  return matrix
}

/**
 * Returns a matrix of 256 × 80 values: the weight of each bin in each mel band. The filters are triangles that are
 * evenly spaced on the mel scale.
 */
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

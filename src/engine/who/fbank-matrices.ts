// Computes the two matrices from which fbank.ts computes Kaldi's filterbank features. One turns samples into a
// spectrum. The other turns the power of the spectrum into mel bands.

import { sampleRate, samplesPerFft } from '../audio.ts'

export const bands = 80
const fftPoints = 512
const bins = fftPoints / 2
const preEmphasis = 0.97
const lowestHertz = 20
/**
 * The factor from steno's samples, which are floats from -1 to 1, to the range of 16-bit integers. The models were
 * trained with samples in this range.
 */
const sampleScale = 32_768

/**
 * Returns a matrix of 400 × 256 values: the weight of each sample in each bin of the spectrum. It combines all linear
 * steps: scale, subtraction of the mean, pre-emphasis, window and Fourier transform.
 */
export function spectrumMatrix(wave: (angle: number) => number): Float32Array {
  const turn = (2 * Math.PI) / fftPoints
  const waves = Float64Array.from({ length: fftPoints }, (_, point) => sampleScale * wave(turn * point))
  const hamming = Float64Array.from(
    { length: samplesPerFft },
    (_, n) => 0.54 - 0.46 * Math.cos((2 * Math.PI * n) / (samplesPerFft - 1)),
  )
  const matrix = new Float32Array(samplesPerFft * bins)
  const windowed = new Float64Array(samplesPerFft + 1)
  const weights = new Float64Array(samplesPerFft)
  for (let bin = 0; bin < bins; bin++) {
    for (let n = 0; n < samplesPerFft; n++) windowed[n] = hamming[n]! * waves[(bin * n) % fftPoints]!
    // Pre-emphasis is a filter. From each sample, it subtracts the previous sample times a factor, here called p
    // (`preEmphasis`). x are the samples before the filter, and y are the samples after it:
    //   y[n] = x[n] - p · x[n - 1] for n > 0
    //   y[0] = x[0] - p · x[0]
    // `windowed[n]` is the weight of y[n] in the bin. x[n] is in y[n] with the factor 1, and in y[n + 1] with the
    // factor -p. So the weight of x[n] in the bin is:
    //   weights[n] = windowed[n] - p · windowed[n + 1]
    // For the last sample (n = 399), there is no y[n + 1], so windowed[400] is 0. The first sample is also in y[0] with
    // the factor -p, so p · windowed[0] is subtracted from weights[0] after the loop.
    for (let n = 0; n < samplesPerFft; n++) weights[n] = windowed[n]! - preEmphasis * windowed[n + 1]!
    weights[0]! -= preEmphasis * windowed[0]!
    let sum = 0
    for (let n = 0; n < samplesPerFft; n++) sum += weights[n]!
    for (let n = 0; n < samplesPerFft; n++) matrix[n * bins + bin] = weights[n]! - sum / samplesPerFft
  }
  return matrix
}

/** Returns a matrix of 256 × 80 values: the weight of each bin in each mel band. The filters are triangles. */
export function melMatrix(): Float32Array {
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

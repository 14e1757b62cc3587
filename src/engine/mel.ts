// Slaney's mel filters for a power spectrum of 400 samples. The features of Whisper and of the built-in voice encoder
// use them.

import { sampleRate, samplesPerFft } from './audio.ts'

/** The number of frequency bins in the power spectrum. */
export const bins = samplesPerFft / 2 + 1

/**
 * Returns the mel filters in one array. Each of the `mels` filters has 201 weights, one for each frequency bin. All
 * filters are triangles of the same area.
 */
export function melFilters(mels: number): Float32Array {
  const hzPerMel = 200 / 3
  const bend = 1000 / hzPerMel
  const step = Math.log(6.4) / 27
  const hz = (mel: number) => (mel < bend ? mel * hzPerMel : 1000 * Math.exp(step * (mel - bend)))
  const top = bend + Math.log(sampleRate / 2 / 1000) / step
  const corner = (index: number) => hz((top * index) / (mels + 1))
  const filters = new Float32Array(mels * bins)
  for (let mel = 0; mel < mels; mel++) {
    const [low, middle, high] = [corner(mel), corner(mel + 1), corner(mel + 2)]
    for (let bin = 0; bin < bins; bin++) {
      const at = (bin * sampleRate) / samplesPerFft
      const weight = Math.min((at - low) / (middle - low), (high - at) / (high - middle))
      if (weight > 0) filters[mel * bins + bin] = (weight * 2) / (high - low)
    }
  }
  return filters
}

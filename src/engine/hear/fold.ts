// Folds the frames of a sound for the Fourier transform. Folding pairs the samples with the same distance from the
// middle of the frame. The sums of the pairs give the real parts of the spectrum, and their differences give the
// imaginary parts. With these values, the transform needs fewer multiplications.

import { samplesPerFft, samplesPerMelFrame, windowMelFrames } from '../audio.ts'

export const half = samplesPerFft / 2
export const quarter = half / 2

const hann = Float64Array.from(
  { length: samplesPerFft },
  (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / samplesPerFft),
)

/** Returns sample `at` of the sound. Negative positions are mirrored, and positions after the end give 0. */
function sampleAt(samples: Float32Array, at: number): number {
  return samples[at < 0 ? -at : at] ?? 0
}

/**
 * The folded frames. Folding adds each sample in the first half of a frame to its mirror image in the second half, and
 * also subtracts the mirror image from the sample. The first word of a name is `even` for the sums and `odd` for the
 * differences. The second word says whether the samples have even or odd positions in the frame.
 */
export type Folds = {
  evenEven: Float32Array
  evenOdd: Float32Array
  oddEven: Float32Array
  oddOdd: Float32Array
}

export function fold(
  samples: Float32Array,
  frames: number,
  { evenEven, evenOdd, oddEven, oddOdd }: Folds,
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
 * Returns sample `at` of the padded sound, as in Whisper. Silence extends shorter sound to a window of 30 s. Outside
 * the window, the samples are mirrored.
 */
function mirrored(samples: Float32Array, at: number): number {
  const length = windowMelFrames * samplesPerMelFrame
  return at >= length ? sampleAt(samples, 2 * (length - 1) - at) : sampleAt(samples, at)
}

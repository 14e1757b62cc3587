// Reduces the sample rate to 4 kHz before two channels are compared. This rate is enough, because the strongest sounds
// of speech are below 2 kHz.

import { sampleRate } from '../audio.ts'

const factor = 4
/** The reduced sample rate: 4000 samples per second. */
export const reducedRate = sampleRate / factor
/** The weights of a low-pass filter over 8 samples. The sum of the weights is 1. */
const weights = [1, 2, 3, 4, 4, 3, 2, 1].map(weight => weight / 20)
/** The share of the previous sample that is subtracted from each sample, to weaken low frequencies. */
const preEmphasis = 0.8

/** Reduces the sample rate of one channel. */
export class Reducer {
  /**
   * The last four samples of the previous part of the sound. Each result is a weighted sum of eight samples: four new
   * samples, and the four samples before them. So the first result of the next part needs these last four samples.
   */
  private readonly before = new Float32Array(factor)
  private last = 0

  /**
   * Writes one reduced sample to `target` for each four samples of `part`. The length of `part` must be a multiple of
   * four.
   */
  reduce(part: Float32Array, target: Float64Array): void {
    for (let at = 0; at < part.length / factor; at++) {
      const first = factor * (at - 1)
      let filtered = 0
      for (let tap = 0; tap < weights.length; tap++) {
        const sample = first + tap
        filtered += weights[tap]! * (sample < 0 ? this.before[factor + sample]! : part[sample]!)
      }
      target[at] = filtered - preEmphasis * this.last
      this.last = filtered
    }
    this.before.set(part.subarray(-factor))
  }
}

// Amplifies quiet sound before voice detection, because voice detection misses speech in quiet sound. The speech model
// reads the original sound, which is not amplified.

import { frameSamples } from './vad-sizes.ts'

/**
 * Two levels of sound, as root mean squares of samples between -1 and 1. `usual` is the level of speech in a usual
 * recording. `quiet` is the lowest level at which voice detection finds all speech.
 */
const [usual, quiet] = [0.1, 0.02]
/**
 * The maximum factor by which samples are multiplied: 32, which is 30 dB. A higher factor would amplify the noise of a
 * 16-bit recording to the level of speech.
 */
const gainMax = 32
/**
 * The share of the frames that are left out when the level of the sound is measured. The loudest frames are left out,
 * because these frames may be clicks, which are louder than speech.
 */
const louder = 0.05

/**
 * If the level of the samples is below `quiet`, amplifies the samples to the level `usual`, by a factor of at most
 * `gainMax`. Otherwise, and for complete silence, returns the samples unchanged.
 */
export function levelled(samples: Float32Array): Float32Array {
  const level = levelOf(samples)
  if (level === 0 || level >= quiet) return samples
  const gain = Math.min(usual / level, gainMax)
  return samples.map(sample => sample * gain)
}

function levelOf(samples: Float32Array): number {
  const levels = new Float32Array(Math.ceil(samples.length / frameSamples))
  for (const frame of levels.keys()) {
    const part = samples.subarray(frame * frameSamples, (frame + 1) * frameSamples)
    levels[frame] = Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / part.length)
  }
  return levels.sort()[Math.floor((1 - louder) * (levels.length - 1))] ?? 0
}

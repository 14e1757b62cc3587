// Amplifies quiet sound before voice detection, which misses speech in quiet sound. The speech model reads the original
// sound.

import { frameSamples } from './vad-sizes.ts'

/**
 * Root mean squares of samples: `usual` is the level of speech in a usual recording, and `quiet` is the lowest level at
 * which voice detection finds all speech.
 */
const [usual, quiet] = [0.1, 0.02]
/** The maximum gain: 30 dB. A higher gain would raise the noise of a 16-bit recording to the level of speech. */
const gainMax = 32
/** The measurement of the level leaves out this share of the frames: the loudest frames, which may be clicks. */
const louder = 0.05

/**
 * Amplifies samples whose level is below `quiet` to the level `usual`, by a factor of at most `gainMax`. Returns
 * samples with a level of 0, or of at least `quiet`, unchanged.
 */
export function levelled(samples: Float32Array): Float32Array {
  const level = levelOf(samples)
  if (level === 0 || level >= quiet) return samples
  const gain = Math.min(usual / level, gainMax)
  return samples.map(sample => sample * gain)
}

/**
 * Returns the level of the samples: the highest level of a frame without the loudest 5 % of the frames (see `louder`).
 * If only these loudest frames have sound, and all others are digital silence, this level is 0. `levelled` would then
 * not amplify the sound. So in this case, the level is computed only from the frames with sound.
 */
function levelOf(samples: Float32Array): number {
  const levels = new Float32Array(Math.ceil(samples.length / frameSamples))
  for (const frame of levels.keys()) {
    const from = frame * frameSamples
    const to = Math.min(from + frameSamples, samples.length)
    let energy = 0
    for (let at = from; at < to; at++) energy += samples[at]! * samples[at]!
    levels[frame] = Math.sqrt(energy / (to - from))
  }
  return withoutLouder(levels) || withoutLouder(levels.filter(level => level > 0))
}

/** Returns the highest level of a frame that is not one of the loudest frames (see `louder`), or 0 without frames. */
function withoutLouder(levels: Float32Array): number {
  return levels.sort()[Math.floor((1 - louder) * (levels.length - 1))] ?? 0
}

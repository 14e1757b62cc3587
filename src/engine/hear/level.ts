// Amplifies quiet sound before voice detection, because voice detection misses speech in quiet sound. The speech model
// reads the original sound, which is not amplified.

import { frameSamples } from './vad-sizes.ts'

/**
 * The level of speech in a usual recording, and the lowest level at which voice detection finds all speech, as root
 * mean squares.
 */
const [usual, quiet] = [0.1, 0.02]
/**
 * The maximum gain: the factor 32, which is 30 dB. A higher gain would raise the noise of a 16-bit recording to the
 * level of speech.
 */
const gainMax = 32
/**
 * The share of the frames that is left out when the level is measured. These are the loudest frames, because they may
 * be clicks.
 */
const louder = 0.05

/**
 * Amplifies quiet sound. If the level of the samples is below `quiet`, the samples are amplified to the level `usual`,
 * by a factor of at most `gainMax`. Louder sound is returned unchanged, and so is sound whose level is 0, such as
 * complete silence.
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
    const from = frame * frameSamples
    const to = Math.min(from + frameSamples, samples.length)
    let energy = 0
    for (let at = from; at < to; at++) energy += samples[at]! * samples[at]!
    levels[frame] = Math.sqrt(energy / (to - from))
  }
  return levels.sort()[Math.floor((1 - louder) * (levels.length - 1))] ?? 0
}

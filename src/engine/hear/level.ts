// Amplifies quiet sound for voice detection, which finds no speech in quiet sound. The speech model reads the sound
// without this gain.

import { frameSamples } from './vad-network.ts'

/**
 * Levels of sound, as root mean squares of samples. `usual` is the level of speech in a usual recording. `quiet` is
 * the lowest level at which voice detection finds all speech.
 */
const [usual, quiet] = [0.1, 0.02]
/**
 * The maximum gain: 32 times, or 30 dB. A higher gain would amplify the noise of a 16-bit recording to the
 * level of speech.
 */
const gainMax = 32
/**
 * The share of the loudest frames that the measured level leaves out. These frames may be clicks, which are louder
 * than speech.
 */
const louder = 0.05

/** Amplifies the samples to the usual level if their own level is below `quiet`. Returns other samples unchanged. */
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

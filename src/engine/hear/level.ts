// Amplifies quiet sound for voice detection, which would find no speech in it. The speech model reads the sound
// unchanged.

import { frameSamples } from './vad.ts'

/** The level (RMS) of speech in a usual recording, and the lowest level at which voice detection finds all speech. */
const [usual, quiet] = [0.1, 0.02]
/** 30 dB. A higher gain would amplify the noise of a 16-bit recording to the level of speech. */
const gainMax = 32
/** The share of frames that are ignored because they are the loudest: a click is not speech. */
const louder = 0.05

/** Returns the samples, amplified if even their loud frames are quiet. */
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

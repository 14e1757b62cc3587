// Finds crosstalk: the quiet voice of a person in the channel of another person. Sound in a channel is crosstalk if
// another channel has the same sound at least 6 dB louder. Two people who speak at the same time have different sounds,
// so both are kept.

import { sampleRate } from '../audio.ts'
import { Reducer, reducedRate } from './reduced.ts'
import { energyOf, hop, hopsRead, sameSound } from './same-sound.ts'

/** The number of samples of one hop, the step between two comparisons: 64 ms. */
export const hopSamples = (hop * sampleRate) / reducedRate

/**
 * The greatest energy of crosstalk, relative to the same sound in the louder channel: 6 dB less. With a smaller
 * difference, the two channels may be copies of the sound of one microphone. Neither channel is then crosstalk of the
 * other, so both keep the sound.
 */
const gainMax = 0.25
/**
 * Adjacent hops (64 ms each) are crosstalk if a large share of their energy can be predicted from the sound of another
 * channel: at least `certain` in one of the hops, and at least `likely` in each of them.
 *
 * If two people speak at the same time, the predicted share is below 0.3 in 99 % of the hops. If the crosstalk is 20 dB
 * quieter than the louder channel, the share is above 0.8 in 95 % of the hops. So a share below 0.3 is usually other
 * sound, and 0.5 lies clearly between other sound and crosstalk.
 */
const certain = 0.5
const likely = 0.3
/**
 * The minimum number of adjacent hops (64 ms each) with crosstalk. A single hop can resemble the sound of another
 * channel by chance.
 */
const hopsMin = 2

/** For each hop (64 ms) of a channel: 1 if the hop is crosstalk, otherwise 0. */
export type Crosstalk = Uint8Array

/** Reads the sounds of all channels at the same time, and returns the crosstalk of each channel. */
export async function findCrosstalk(sounds: readonly AsyncIterable<Float32Array>[]): Promise<Crosstalk[]> {
  const channels = sounds.map(sound => new Channel(sound))
  try {
    // A hop (64 ms of sound) is compared after the next two hops are read. The loop therefore reads two hops of silence
    // after the end of the sound.
    for (let ended = 0; ended < (hopsRead - 1) / 2; ) {
      const has = await Promise.all(channels.map(channel => channel.next()))
      if (!has.includes(true)) ended++
      compare(channels)
    }
  } finally {
    await Promise.all(channels.map(channel => channel.close()))
  }
  return channels.map(channel => channel.crosstalk())
}

class Channel {
  /** The sound of the last five hops (64 ms each), at the reduced sample rate. */
  readonly reduced = new Float64Array(hopsRead * hop)
  /** The energy of each of the last five hops (64 ms each). */
  private readonly energies = new Float64Array(hopsRead)
  /** The energy of the last five hops (64 ms each) together. */
  energy = 0
  /**
   * The energy of the middle three of the last five hops (64 ms each). The sound of these three hops is predicted from
   * all five hops of a louder channel. The same sound may be up to 52 ms (less than one hop) earlier or later there.
   */
  compared = 0
  readonly shares: number[] = []
  private readonly parts: AsyncIterator<Float32Array>
  private readonly reducer = new Reducer()
  /** The samples of the next hop. One array is reused for all hops, to save memory. */
  private readonly samples = new Float32Array(hopSamples)
  private part: Float32Array = new Float32Array(0)
  private read = 0

  constructor(sound: AsyncIterable<Float32Array>) {
    this.parts = sound[Symbol.asyncIterator]()
  }

  /** Reads the next hop. After the end of the sound, the hop is silence, and the result is false. */
  async next(): Promise<boolean> {
    const { samples } = this
    let filled = 0
    while (filled < hopSamples) {
      if (this.read === this.part.length) {
        const { value, done } = await this.parts.next()
        if (done) break
        this.part = value
        this.read = 0
      }
      const taken = this.part.subarray(this.read, this.read + hopSamples - filled)
      samples.set(taken, filled)
      filled += taken.length
      this.read += taken.length
    }
    samples.fill(0, filled)
    this.reduced.copyWithin(0, hop)
    this.reducer.reduce(samples, this.reduced.subarray(-hop))
    const { energies } = this
    energies.copyWithin(0, 1)
    energies[hopsRead - 1] = energyOf(this.reduced, (hopsRead - 1) * hop, hopsRead * hop)
    this.compared = sumOf(energies.subarray(1, -1))
    this.energy = sumOf(energies)
    return filled > 0
  }

  crosstalk(): Crosstalk {
    return crosstalkWith(this.shares.slice((hopsRead - 1) / 2))
  }

  async close(): Promise<void> {
    await this.parts.return?.()
  }
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0)
}

/**
 * Adds a number to `shares` of each channel: the share of the channel's energy that can be predicted from the sound of
 * a louder channel. This energy is that of the middle three of the last five hops (64 ms each). The prediction uses all
 * five hops of the louder channel, because the same sound may be up to 52 ms (less than one hop) earlier or later
 * there.
 */
function compare(channels: readonly Channel[]): void {
  const byEnergy = channels.toSorted((one, other) => other.energy - one.energy)
  for (const quiet of channels) {
    let best = 0
    for (const loud of byEnergy) {
      if (best >= certain || quiet.compared > gainMax * loud.energy) break
      if (loud === quiet) continue
      const { share, gain } = sameSound(quiet.reduced, loud.reduced, quiet.compared)
      if (gain <= gainMax) best = Math.max(best, share)
    }
    quiet.shares.push(best)
  }
}

/**
 * Marks the hops (64 ms each) that are crosstalk. `shares` has, for each hop, the share of its energy that can be
 * predicted from the sound of another channel.
 */
export function crosstalkWith(shares: readonly number[]): Crosstalk {
  const marked = new Uint8Array(shares.length)
  let from = 0
  for (let at = 0; at <= shares.length; at++) {
    if ((shares[at] ?? 0) >= likely) continue
    const run = shares.slice(from, at)
    if (run.length >= hopsMin && run.some(share => share >= certain)) marked.fill(1, from, at)
    from = at + 1
  }
  return marked
}

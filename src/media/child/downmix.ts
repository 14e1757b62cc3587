// Mixes two channels to one channel. Two channels of opposite phase would cancel each other in the mix. In
// this case the output is one of the two channels.

import { sampleRate } from '../wire.ts'

/**
 * The channels cancel each other if the energy of the mix, divided by the energy of the louder channel, is
 * below this value. The value corresponds to a loss of 13 dB. The mix of two unrelated channels loses only 3
 * dB.
 */
const cancelled = 0.05
/** The energies are moving averages over about this many samples. */
const memory = sampleRate / 2

export class Downmix {
  #left = 0
  #right = 0
  #mix = 0

  /**
   * Returns the mix of samples that alternate between left and right. The result is a part of `samples`, so
   * the input is overwritten.
   */
  mix(samples: Float32Array): Float32Array {
    const count = samples.length / 2
    const mixed = samples.subarray(0, count)
    const [left, right, mix] = energiesOf(samples)
    const kept = Math.exp(-count / memory)
    this.#left = this.#left * kept + left
    this.#right = this.#right * kept + right
    this.#mix = this.#mix * kept + mix
    const louder = this.#right > 4 * this.#left ? 1 : 0
    const cancels = this.#mix < cancelled * Math.max(this.#left, this.#right)
    for (let at = 0; at < count; at++)
      mixed[at] = cancels ? samples[2 * at + louder]! : (samples[2 * at]! + samples[2 * at + 1]!) / 2
    return mixed
  }
}

function energiesOf(samples: Float32Array): [left: number, right: number, mix: number] {
  let [left, right, mix] = [0, 0, 0]
  for (let at = 0; at + 1 < samples.length; at += 2) {
    const [one, other] = [samples[at]!, samples[at + 1]!]
    left += one * one
    right += other * other
    mix += ((one + other) / 2) ** 2
  }
  return [left, right, mix]
}

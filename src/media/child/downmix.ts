// Mixes two channels to one. Channels of opposite phase would cancel each other: then the mix is one of them.

import { sampleRate } from '../wire.ts'

/** The mix has this much less energy than a channel when it cancels: 13 dB. Two unrelated channels lose 3 dB. */
const cancelled = 0.05
/** The energies are means over about this many samples. */
const memory = sampleRate / 2

export class Downmix {
  #left = 0
  #right = 0
  #mix = 0

  /** Returns the mix of samples that alternate between left and right. It is overwritten by the next call. */
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

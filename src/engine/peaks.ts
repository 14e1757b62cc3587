// Measures the amplitude of a recording. The web page draws the waveform from these values.

import { sampleRate } from './audio.ts'

/** The number of samples that one peak covers: 50 ms of sound. */
const samplesPerPeak = 0.05 * sampleRate

/** Computes the peaks of one recording. A peak is the highest amplitude in 50 ms of sound. */
export class Peaks {
  readonly #peaks: number[] = []
  #highest = 0
  #samples = 0

  /** Yields the sound unchanged, and measures the peaks of this sound. */
  async *of(sound: AsyncIterable<Float32Array>): AsyncGenerator<Float32Array> {
    for await (const part of sound) {
      this.#add(part)
      yield part
    }
  }

  /** Returns one byte for each peak: from 0 (silence) to 255. The last peak may cover less than 50 ms. */
  bytes(): Uint8Array {
    return Uint8Array.from(this.#samples > 0 ? [...this.#peaks, byteOf(this.#highest)] : this.#peaks)
  }

  #add(part: Float32Array): void {
    for (let index = 0; index < part.length; index++) {
      const amplitude = Math.abs(part[index] ?? 0)
      if (amplitude > this.#highest) this.#highest = amplitude
      if (++this.#samples < samplesPerPeak) continue
      this.#peaks.push(byteOf(this.#highest))
      this.#highest = 0
      this.#samples = 0
    }
  }
}

function byteOf(amplitude: number): number {
  return Math.min(255, Math.round(amplitude * 255))
}

// A high-pass filter, which makes the hum and the rumble of a room quieter. Such noise can be as loud as a voice.

import { sampleRate } from '../audio.ts'

/**
 * The cutoff frequency in hertz. A voice has little sound below it. Sound of this frequency becomes quieter by 3 dB,
 * and sound one octave lower by 12 dB.
 */
const cutoff = 150

const angle = (2 * Math.PI * cutoff) / sampleRate
const damping = Math.sin(angle) * Math.SQRT1_2
const gain = (1 + Math.cos(angle)) / 2 / (1 + damping)
const feedback = (2 * Math.cos(angle)) / (1 + damping)
const olderFeedback = (damping - 1) / (1 + damping)

/** A Butterworth filter of the second order for one recording, which may arrive in parts of any length. */
export class HighPass {
  /** The last two samples, the newer one first. */
  private inputs: [number, number] = [0, 0]
  /** The last two filtered values, the newer one first. */
  private outputs: [number, number] = [0, 0]

  /** Returns the next part of the recording, filtered. */
  filter(sound: Float32Array): Float32Array {
    const filtered = new Float32Array(sound.length)
    let [input, olderInput] = this.inputs
    let [output, olderOutput] = this.outputs
    for (let at = 0; at < sound.length; at++) {
      const sample = sound[at]!
      const value = gain * (sample - 2 * input + olderInput) + olderFeedback * olderOutput + feedback * output
      olderInput = input
      input = sample
      olderOutput = output
      output = value
      filtered[at] = value
    }
    this.inputs = [input, olderInput]
    this.outputs = [output, olderOutput]
    return filtered
  }
}

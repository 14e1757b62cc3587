// Measures the loudness of the recording every 10 ms, and removes pauses from turns. A turn is a span in which one
// speaker talks. It contains pauses shorter than about 0.5 s, because the segmentation model counts them as speech.

import { samplesPerMelFrame } from '../audio.ts'
import { HighPass } from './high-pass.ts'
import { partsWithoutPauses, silence } from './pauses.ts'
import type { Turn } from './turn.ts'

/** Each loudness value is replaced by the mean of itself and of up to this many values on each side. */
const smoothing = 2

/** The loudness of one recording. `add` accepts the sound in parts of any length. */
export class Loudness {
  private readonly values: number[] = []
  private readonly highPass = new HighPass()
  private energy = 0
  private count = 0

  add(sound: Float32Array): void {
    const filtered = this.highPass.filter(sound)
    let { energy, count } = this
    for (let at = 0; at < filtered.length; at++) {
      energy += filtered[at]! * filtered[at]!
      count++
      if (count < samplesPerMelFrame) continue
      this.values.push(Math.max(silence, 10 * Math.log10(energy / count + 1e-12)))
      energy = 0
      count = 0
    }
    this.energy = energy
    this.count = count
  }

  /** Removes the pauses from the turns. A turn with a long pause inside usually becomes several turns. */
  withoutPauses(turns: readonly Turn[]): Turn[] {
    const smooth = smoothed(this.values)
    return turns.flatMap(turn => partsWithoutPauses(turn, smooth))
  }
}

function smoothed(values: readonly number[]): Float32Array {
  return Float32Array.from(values, (_, index) => {
    const first = Math.max(0, index - smoothing)
    const end = Math.min(values.length, index + smoothing + 1)
    let sum = 0
    for (let at = first; at < end; at++) sum += values[at]!
    return sum / (end - first)
  })
}

// Measures the loudness of the recording every 10 ms, and removes pauses from turns, which are spans in which one
// speaker talks. A turn contains pauses because the segmentation model marks a pause of less than about half a second
// as speech.

import { samplesPerMelFrame } from '../audio.ts'
import { partsWithoutPauses, silence } from './pauses.ts'
import type { Turn } from './turn.ts'

/**
 * The loudness is smoothed: each value is replaced by a mean. The mean includes the value itself, this many values
 * before it, and this many values after it.
 */
const smoothing = 2

/** The loudness of one recording. `add` accepts the sound in parts of any length. */
export class Loudness {
  private readonly values: number[] = []
  private energy = 0
  private count = 0

  add(sound: Float32Array): void {
    for (let at = 0; at < sound.length; at++) {
      this.energy += sound[at]! * sound[at]!
      this.count++
      if (this.count < samplesPerMelFrame) continue
      this.values.push(Math.max(silence, 10 * Math.log10(this.energy / this.count + 1e-12)))
      this.energy = 0
      this.count = 0
    }
  }

  /** Returns the turns without the pauses in them. A turn with a pause becomes several turns. */
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

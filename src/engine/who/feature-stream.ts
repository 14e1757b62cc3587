// The feature frames of a recording while its sound arrives. Each frame is computed once, although the noise is measured
// in two blocks and the pieces of only one of them get their embeddings.

import { joinFloats } from '../../base/join-floats.ts'
import { samplesPerMelFrame } from '../audio.ts'
import type { Embedder } from './embedder.ts'

/** Consecutive feature frames. `first` is the number of their first frame, counted from the start of the recording. */
export type FeatureFrames = { rows: Float32Array; first: number }

/**
 * A feature frame reads samples before and after its middle. So the first and the last frames of some sound, up to this
 * number, differ from the frames of the same sound with its surroundings.
 */
const edgeFrames = 3

export class FeatureStream {
  /** The sound from frame `soundFrame` on: the sound without features, and the last sound before it. */
  private sound: Float32Array[] = []
  private soundFrame = 0
  /** The features from frame `first` on. The last `edgeFrames` of them are replaced when more sound has arrived. */
  private rows = new Float32Array(0)
  private first = 0

  constructor(private readonly embedder: Embedder) {}

  add(sound: Float32Array): void {
    this.sound.push(sound)
  }

  /** Returns the features of the samples from `from` to `to`, and forgets all features before them. */
  between(from: number, to: number): FeatureFrames {
    this.compute()
    const { width } = this.embedder
    const first = Math.floor(from / samplesPerMelFrame)
    this.rows = this.rows.slice((first - this.first) * width)
    this.first = first
    const frames = 1 + Math.floor((to - first * samplesPerMelFrame) / samplesPerMelFrame)
    return { rows: this.rows.subarray(0, frames * width), first }
  }

  private compute(): void {
    const { width } = this.embedder
    const sound = joinFloats(this.sound)
    const computed = this.embedder.features(sound)
    const skipped = this.soundFrame === 0 ? 0 : edgeFrames
    const kept = this.rows.subarray(0, (this.soundFrame + skipped - this.first) * width)
    this.rows = joinFloats([kept, computed.subarray(skipped * width)])
    const end = this.soundFrame + computed.length / width
    const next = Math.max(this.soundFrame, end - 2 * edgeFrames)
    this.sound = [sound.slice((next - this.soundFrame) * samplesPerMelFrame)]
    this.soundFrame = next
  }
}

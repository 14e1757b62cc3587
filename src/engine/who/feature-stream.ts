// Computes the feature frames of a recording while its sound arrives. Diarization reads most frames twice, but nearly
// all frames are computed only once.

import { joinFloats } from '../../base/join-floats.ts'
import { samplesPerMelFrame } from '../audio.ts'
import type { Embedder } from './embedder.ts'

/** Consecutive feature frames. `first` is the number of their first frame, counted from the start of the recording. */
export type FeatureFrames = { rows: Float32Array; first: number }

/**
 * The maximum number of inexact frames at each end of a computed stretch of sound. These frames also need samples
 * outside the stretch, which are missing.
 */
const edgeFrames = 3

export class FeatureStream {
  /**
   * The sound that the next computation reads, from frame `soundFrame` on. It begins with the sound of the last 6
   * computed frames (2 × `edgeFrames`), because the frames at both ends of a computation are inexact. The last 3 of the
   * 6 frames are computed again, now with the sound that follows them. The other 3 are already exact. They are read
   * again only because the first frames of the next computation are inexact too.
   */
  private sound: Float32Array[] = []
  private soundFrame = 0
  /**
   * The features from frame `first` on. The last `edgeFrames` frames are inexact, because the sound after them is
   * missing. They are replaced when more sound has arrived.
   */
  private rows = new Float32Array(0)
  private first = 0

  constructor(private readonly embedder: Embedder) {}

  add(sound: Float32Array): void {
    this.sound.push(sound)
  }

  /** Returns the features of the samples from `from` to `to`, and removes all features before `from`. */
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

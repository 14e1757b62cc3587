// Stores the voice counts of the speech model as two probabilities for each frame: that at least one voice speaks, and
// that at least two voices speak. The segmentation model gives a second estimate. The number of speakers in a frame is
// computed from both estimates.

import { samplesPerMelFrame } from '../audio.ts'
import { frameCentre, frameStep, startOf } from './views.ts'

/**
 * A part of a window of the speech model. The part is the sound of the recording from sample `from` to sample `to`. In
 * the window, this sound begins at sample `at`.
 */
export type PlacedSpan = { from: number; to: number; at: number }

/**
 * The weights of the speech model in two decisions, from 0 to 1. `speech` is its weight in the decision that a frame
 * has speech, and `overlap` in the decision that two people speak in a frame. The segmentation model has the remaining
 * weight, and a weighted mean of 0.5 or more means yes. With 0.6 for `speech`, a frame has no speech if the speech
 * model gives it a probability below 1/6, even if the segmentation model finds a voice in it each time that it reads
 * the frame.
 */
const weights = { speech: 0.6, overlap: 0.7 }
/**
 * Marks a frame that is in no window of the speech model. Each other frame has two probabilities, which are stored as
 * bytes from 1 to 255.
 */
const outside = 0

export class VoiceCounts {
  /**
   * Two bytes for each frame: the probability of one voice or more, and the probability of two voices or more. Each
   * byte is the probability times 255, but at least 1. The value 0 is `outside`: it marks a frame that is in no window
   * of the speech model. The array can end before or after the end of the recording.
   */
  private bytes = new Uint8Array(0)

  /** True if no voice counts were added, for example because the speech model gives none. */
  get isEmpty(): boolean {
    return this.bytes.length === 0
  }

  /**
   * Adds the voice counts of one window of the speech model. A window is made of spans of the recording: `placed` has
   * these spans, and the sample of the window at which each span begins. `voices` has three probabilities for each 10
   * ms: no voice, one voice, two voices or more. The first frame of the speech model begins 10 ms before the window, so
   * the first three probabilities are for these 10 ms.
   */
  add(placed: readonly PlacedSpan[], voices: Float32Array): void {
    for (const { from, to, at } of placed) {
      const end = frameAfter(to)
      this.makeRoom(end)
      for (let frame = frameAfter(from); frame < end; frame++) {
        const start = at + startOf(frame) - from
        const [one, two] = meanIn(voices, start, start + frameStep)
        this.bytes.set([byteOf(one + two), byteOf(two)], 2 * frame)
      }
    }
  }

  /**
   * Returns the number of speakers in a frame: 0, 1 or 2. The number is computed from the voice counts of the speech
   * model and from `mean`, which is the number of voices that the segmentation model finds in the frame. It is a mean,
   * because the segmentation model reads each frame several times. Returns 0 if the frame is in no window of the speech
   * model.
   */
  speakersIn(frame: number, mean: number): number {
    const speech = this.bytes[2 * frame] ?? outside
    const overlap = this.bytes[2 * frame + 1] ?? outside
    if (speech === outside || !isLikely(speech, Math.min(1, mean), weights.speech)) return 0
    return isLikely(overlap, Math.max(0, mean - 1), weights.overlap) ? 2 : 1
  }

  /** Makes `bytes` long enough for this number of frames. Doubles its length, so that it is seldom copied. */
  private makeRoom(frames: number): void {
    if (2 * frames <= this.bytes.length) return
    const bytes = new Uint8Array(Math.max(2 * frames, 2 * this.bytes.length)).fill(outside)
    bytes.set(this.bytes)
    this.bytes = bytes
  }
}

function byteOf(probability: number): number {
  return Math.max(outside + 1, Math.round(255 * probability))
}

/**
 * Returns true if the weighted mean of two estimates is at least one half. The speech model gives the estimate `byte /
 * 255`, which has the weight `weight`. The views (ten seconds of sound each) give the estimate `share`, which has the
 * weight `1 - weight`.
 */
function isLikely(byte: number, share: number, weight: number): boolean {
  return weight * (byte / 255) + (1 - weight) * share >= 0.5
}

/** Returns the first frame whose middle is at `sample` or after it. */
function frameAfter(sample: number): number {
  return Math.max(0, Math.ceil((sample - frameCentre) / frameStep))
}

/**
 * Returns two probabilities for the samples `from` (inclusive) to `to` (exclusive) of a window: that one voice speaks,
 * and that two voices or more speak. Each one is the mean of the values in `voices`, which are for 10 ms each.
 */
function meanIn(voices: Float32Array, from: number, to: number): [one: number, two: number] {
  const last = voices.length / 3 - 1
  const [start, end] = [from, to - 1].map(sample =>
    Math.min(last, Math.max(0, Math.floor(sample / samplesPerMelFrame) + 1)),
  ) as [number, number]
  let [one, two] = [0, 0]
  for (let at = start; at <= end; at++) {
    one += voices[3 * at + 1]!
    two += voices[3 * at + 2]!
  }
  return [one / (end - start + 1), two / (end - start + 1)]
}

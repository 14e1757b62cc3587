// Stores the voice counts of the speech model. For each frame, they are two probabilities: that at least one voice
// speaks, and that at least two voices speak.

import { samplesPerMelFrame } from '../audio.ts'
import { frameCentre, frameStep, startOf } from './views.ts'

/**
 * A span of the recording: the samples `from` to `to`. The speech model reads the span in a window (at most 30 s of
 * sound), in which the span begins at the sample `at`.
 */
export type PlacedSpan = { from: number; to: number; at: number }

/**
 * Two models estimate for each frame whether someone speaks, and whether two people speak. One is the segmentation
 * model. The other is the speech model, whose voice network estimates this from the output of Whisper's encoder. The
 * mean of the two estimates decides: 0.5 or more means yes. These are the weights of the speech model in this mean, and
 * the segmentation model has the remaining weight. Both weights are above 0.5, so the segmentation model alone cannot
 * decide yes.
 */
const weights = { speech: 0.6, overlap: 0.7 }
/**
 * Marks a frame that is in no window of the speech model. A stored probability is never 0: it is a byte from 1 to 255.
 */
const outside = 0

export class VoiceCounts {
  /**
   * Two bytes for each frame: the probability of one voice or more, and of two voices or more. Each byte is the
   * probability times 255, but at least 1. Both bytes are `outside` (0) for a frame without a probability. The array
   * grows with each window that is added, so it can be shorter or longer than the recording.
   */
  private bytes = new Uint8Array(0)

  /** True if no voice counts were added. */
  get isEmpty(): boolean {
    return this.bytes.length === 0
  }

  /**
   * Adds the voice counts of one window of the speech model. `placed` has the spans of the recording that form the
   * window, and their starts in the window. `voices` has three probabilities for each 10 ms: no voice, one voice, two
   * voices or more. The speech model gives two such sets for each of its frames of 20 ms. The middle of its first frame
   * is at the start of the window, so the first set is for the 10 ms before the window.
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
   * Returns the number of speakers in a frame: 0, 1 or 2. Combines the probabilities from the speech model, which `add`
   * stored, with the estimate `mean` of the segmentation model. This model finds the voices in overlapping views of ten
   * seconds. `mean` is the mean number of voices over the views that contain the frame. Returns 0 if the frame is in no
   * window of the speech model.
   */
  speakersIn(frame: number, mean: number): number {
    const speech = this.bytes[2 * frame] ?? outside
    const overlap = this.bytes[2 * frame + 1] ?? outside
    if (speech === outside || !isLikely(speech, Math.min(1, mean), weights.speech)) return 0
    return isLikely(overlap, Math.max(0, mean - 1), weights.overlap) ? 2 : 1
  }

  /** Makes `bytes` long enough for this number of frames. The length at least doubles, so `bytes` is seldom copied. */
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
 * Decides a question about a frame, for example if it has speech. `byte / 255` is the probability from the speech
 * model, and its weight is `weight`. `share` is the estimate (0 to 1) of the segmentation model, and its weight is
 * `1 - weight`. Returns true if the weighted mean of both is at least 0.5.
 */
function isLikely(byte: number, share: number, weight: number): boolean {
  return weight * (byte / 255) + (1 - weight) * share >= 0.5
}

/** Returns the first frame whose middle is at `sample` or after it. */
function frameAfter(sample: number): number {
  return Math.max(0, Math.ceil((sample - frameCentre) / frameStep))
}

/**
 * Returns two probabilities for the samples `from` to `to - 1` of a window: that exactly one voice speaks, and that two
 * voices or more speak. `voices` has three probabilities for each 10 ms: no voice, one voice, two voices or more. The
 * result is the mean over all 10 ms steps that contain one of the samples. `voices` begins 10 ms before the window (see
 * `add`), so the first step of the window is the second one in `voices`.
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

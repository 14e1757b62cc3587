// A recording after segmentation and clustering. It has views, which are ten seconds of sound each, and pieces, which
// are spans in which one voice speaks alone.

import { classVoices, type FrameSpan, localVoices, viewFrames } from './views.ts'

/**
 * A view: ten seconds of the recording, in which the segmentation model has found up to three voices. `classes` has one
 * class for each frame: the class says which of these voices speak in the frame. `speakers` has the speaker of each
 * voice, or -1 if the speaker is unknown.
 */
export type View = { classes: Uint8Array; speakers: Int16Array }

export type SegmentedRecording = {
  views: readonly View[]
  /** The number of frames from the start of one view (ten seconds of sound) to the start of the next view. */
  stepFrames: number
  /**
   * The pieces (spans in which one voice speaks alone) whose speaker is sure. `speaker` is the speaker of the piece.
   */
  pieces: readonly (FrameSpan & { speaker: number })[]
  samples: number
  speakerCount: number
  /**
   * A function that returns the number of speakers in a frame: 0, 1 or 2. It combines the estimates of two models. The
   * estimate of the segmentation model is `mean`: the mean number of voices in this frame, over all views (ten seconds
   * of sound each) that contain the frame. The estimate of the speech model is its voice counts: the probability that
   * at least one voice speaks, and the probability that at least two voices speak. The property `speakerCountIn` is
   * null if the speech model gives no voice counts.
   */
  speakerCountIn: ((frame: number, mean: number) => number) | null
}

/**
 * Returns the number of speakers who speak in a frame. Several overlapping views (ten seconds of sound each) contain
 * the frame, and the segmentation model counts the voices in each view. If `speakerCountIn` is null, the result is the
 * mean of these numbers, rounded. Otherwise `speakerCountIn` computes the result from the mean and from the voice
 * counts of the speech model, which is another model.
 *
 * Also writes to `votes`: for each speaker, the number of views in which this speaker speaks in the frame. The speakers
 * in `dropped` get no votes.
 */
export function countSpeakers(
  { views, stepFrames, speakerCountIn }: SegmentedRecording,
  frame: number,
  dropped: ReadonlySet<number>,
  votes: Int32Array,
): number {
  votes.fill(0)
  let seen = 0
  let speaking = 0
  const last = Math.min(views.length - 1, Math.floor(frame / stepFrames))
  const first = Math.max(0, last - Math.ceil(viewFrames / stepFrames))
  for (let index = first; index <= last; index++) {
    const view = views[index]
    const at = frame - index * stepFrames
    if (!view || at >= viewFrames) continue
    seen++
    const voices = classVoices[view.classes[at]!]!
    for (let local = 0; local < localVoices; local++) {
      if (!(voices & (1 << local))) continue
      speaking++
      const speaker = view.speakers[local]!
      if (speaker >= 0 && !dropped.has(speaker)) votes[speaker]!++
    }
  }
  const mean = speaking / Math.max(1, seen)
  return speakerCountIn ? speakerCountIn(frame, mean) : Math.round(mean)
}

// A recording after segmentation and clustering.

import { classVoices, type FrameSpan, localVoices, viewFrames } from './views.ts'

/**
 * Ten seconds of the recording, with up to three voices. `classes` says for each frame which of the voices speak.
 * `speakers` has the speaker of each voice, or -1 if the speaker is unknown.
 */
export type View = { classes: Uint8Array; speakers: Int16Array }

export type SegmentedRecording = {
  views: readonly View[]
  /** The number of frames from the start of one view (ten seconds of sound) to the start of the next view. */
  stepFrames: number
  /**
   * The pieces (spans in which one voice speaks alone). `speaker` is -1 if no speaker was found for the piece. A piece
   * is left out if it is so short that its speaker may be wrong.
   */
  pieces: readonly (FrameSpan & { speaker: number })[]
  samples: number
  speakerCount: number
  /**
   * Returns the number of speakers in a frame: 0, 1 or 2. Views (ten seconds of sound each) overlap. For each view that
   * contains the frame, the segmentation model gives the number of voices that speak in the frame. `mean` is the mean
   * of these numbers. The function combines `mean` with the voice counts: the speech model's own estimates of the
   * number of voices. The property is null if the speech model gives no voice counts.
   */
  speakerCountIn: ((frame: number, mean: number) => number) | null
}

/**
 * Returns the number of speakers who speak in a frame. For each view (ten seconds of sound) that contains the frame,
 * the segmentation model gives the number of voices that speak in the frame. This function computes the mean of these
 * numbers. If `speakerCountIn` is null, the result is the rounded mean. Otherwise `speakerCountIn` computes the result
 * from the mean.
 *
 * Also writes to `votes`: for each speaker, the number of views in which the speaker speaks in the frame. The speakers
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

// A recording after segmentation and clustering. It has views, which are ten seconds of sound each, and pieces, which
// are spans in which one voice speaks alone.

import { classVoices, type FrameSpan, localVoices, viewFrames } from './views.ts'

/**
 * A view of ten seconds. `classes` has one class for each frame, which says which voices of the view speak in the
 * frame. `speakers` has the speaker of each of these voices, or -1 if the speaker is unknown.
 */
export type View = { classes: Uint8Array; speakers: Int16Array }

export type SegmentedRecording = {
  views: readonly View[]
  /** The number of frames from the start of one view (ten seconds of sound) to the start of the next view. */
  stepFrames: number
  /**
   * The pieces (spans of one voice) that took part in the clustering, with their speakers. The overlapping views of ten
   * seconds vote for the speakers of each frame. In a frame of such a piece, the speaker of the piece always wins.
   */
  pieces: readonly (FrameSpan & { speaker: number })[]
  samples: number
  speakerCount: number
}

/**
 * Returns the number of persons who speak in a frame. Several views contain this frame, and each view finds a number of
 * voices there. The rounded mean of these numbers is returned. Also writes to `votes` how many views find each speaker
 * in the frame. The speakers in `dropped` get no votes.
 */
export function countSpeakers(
  { views, stepFrames }: SegmentedRecording,
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
  return Math.round(speaking / Math.max(1, seen))
}

// Finds the frames at which the voice changes. The segmentation model reads overlapping views of ten seconds. Up to ten
// views contain the same frame, and vote on a change of voice.

import { classVoices, type FrameSpan, framesOf, viewFrames } from './views.ts'

/**
 * The results of the overlapping views, with one value for each frame. A view is ten seconds of sound. `views` is the
 * number of views that contain the frame. `voices` is the sum of the numbers of voices that these views find in the
 * frame. `changes` is the number of views that find a change of voice in the frame.
 */
type Votes = { views: Float32Array; voices: Float32Array; changes: Float32Array }

/** The minimum length, in frames, of a span in which one voice speaks alone. A shorter span is ignored. */
const runFramesMin = framesOf(0.13)
/**
 * The maximum distance, in frames, of two changes of voice that count as one change. The segmentation model reads
 * overlapping views (ten seconds of sound each). Two views may show the same change at slightly different frames.
 */
const reach = framesOf(0.24)
/**
 * The recording is cut at a frame if about this share (0 to 1) of the views that contain the frame find a change of
 * voice near it. A view is ten seconds of sound.
 */
const changeShare = 0.35

export function votesIn(classes: readonly Uint8Array[], stepFrames: number, { from, to }: FrameSpan): Votes {
  const size = Math.max(0, to - from)
  const votes = {
    views: new Float32Array(size),
    voices: new Float32Array(size),
    changes: new Float32Array(size),
  }
  const first = Math.max(0, Math.floor((from - viewFrames) / stepFrames))
  for (let view = first; view < classes.length && view * stepFrames < to; view++) {
    const start = view * stepFrames - from
    const own = classes[view]!
    for (let at = Math.max(0, -start); at < Math.min(viewFrames, size - start); at++) {
      votes.views[start + at]!++
      votes.voices[start + at]! += voiceCounts[own[at]!]!
    }
    for (const at of changesIn(own)) if (start + at >= 0 && start + at < size) votes.changes[start + at]!++
  }
  return votes
}

const voiceCounts = classVoices.map(voices => (voices & 1) + ((voices >> 1) & 1) + ((voices >> 2) & 1))

/**
 * Yields each frame at which the voice changes within one view (ten seconds of sound). `classes` says for each frame of
 * the view which voices speak.
 */
function* changesIn(classes: Uint8Array): Generator<number> {
  let before: { voice: number; to: number } | null = null
  for (let from = 0, to = 0; from < classes.length; from = to) {
    const voice = classVoices[classes[from]!]!
    while (to < classes.length && classes[to] === classes[from]) to++
    if (voiceCounts[classes[from]!] !== 1 || to - from < runFramesMin) continue
    if (before && before.voice !== voice) yield Math.round((before.to + from) / 2)
    before = { voice, to }
  }
}

/**
 * Returns the frames at which the voice changes. The segmentation model reads overlapping views, which are ten seconds
 * of sound each. Several views contain the same frame, and may find a change of voice there. Each view that finds a
 * change adds evidence to the frame of the change, and less evidence to the frames nearby. A frame needs evidence of at
 * least `changeShare` times the number of views that contain it. If several frames close together have enough evidence,
 * only the one with the most evidence is returned.
 */
export function cutsOf({ views, changes }: Votes): Set<number> {
  const evidence = new Float32Array(changes.length)
  for (const [frame, count] of changes.entries())
    for (let shift = -reach; count > 0 && shift <= reach; shift++)
      if (frame + shift >= 0 && frame + shift < evidence.length)
        evidence[frame + shift]! += count * (1 - Math.abs(shift) / (2 * reach + 1))
  const cuts = new Set<number>()
  for (const [frame, value] of evidence.entries()) {
    if (value < changeShare * views[frame]! || value === 0) continue
    const near = evidence.subarray(Math.max(0, frame - reach), frame + reach + 1)
    const before = evidence.subarray(Math.max(0, frame - reach), frame)
    if (near.every(other => other <= value) && before.every(other => other < value)) cuts.add(frame)
  }
  return cuts
}

// Cuts the recording into pieces. A piece is a span in which one voice speaks alone. It ends where the voice changes,
// and at a pause or an overlap of voices of more than 0.15 s. A view is ten seconds of sound in which the segmentation
// model finds voices. Views overlap: up to ten views contain the same frame. These views vote on the number of voices
// in the frame, and on whether the voice changes there.

import { sampleRate } from '../audio.ts'
import { classVoices, frameStep, viewFrames } from './segmentation.ts'

/** A span of the recording in frames. `from` is its first frame, and `to` is the frame after its last frame. */
export type FrameSpan = { from: number; to: number }

/**
 * A piece of the recording with one voice. `follows` is true if the previous piece probably has the same voice: the
 * views find no change of voice between the two pieces, and the pause between them is short.
 */
export type VoicePiece = FrameSpan & { follows: boolean }

/**
 * The votes of the views. Each list has one value for each frame. `views`: the number of views that contain the frame.
 * `voices`: the sum of the numbers of voices that these views find in the frame. `changes`: the number of views that
 * find a change of voice at the frame.
 */
type Votes = { views: Float32Array; voices: Float32Array; changes: Float32Array }

const frames = (seconds: number) => Math.round((seconds * sampleRate) / frameStep)
/**
 * The minimum length, in frames, of a stretch in which the same voice speaks alone. The search for changes of voice
 * ignores a shorter stretch.
 */
const runFramesMin = frames(0.13)
/** The maximum length, in frames, of a pause or of an overlap of voices inside a piece. A longer one ends the piece. */
const pauseFrames = frames(0.15)
/**
 * The maximum length, in frames, of the pause before a piece whose `follows` is true. After a longer pause, another
 * voice may speak.
 */
const followsFramesMax = frames(0.42)
/** Two views mean the same change of voice if the frames at which they find it are at most this many frames apart. */
const reach = frames(0.24)
/**
 * The recording is cut at a change of voice if at least this share (0 to 1) of the views that contain the frame find
 * the change.
 */
const changeShare = 0.35
/** The maximum length of a piece, in frames. A longer piece is cut into equal parts of about `aimFrames` frames. */
const longestFrames = frames(2.4)
const aimFrames = frames(2)

/**
 * Returns the pieces inside the span `span` of the recording. `classes` has, for each view, the classes of its frames:
 * a class says which voices of the view speak in the frame. A view starts `stepFrames` frames after the view before it.
 */
export function piecesIn(classes: readonly Uint8Array[], stepFrames: number, span: FrameSpan): VoicePiece[] {
  const votes = votesIn(classes, stepFrames, span)
  const cuts = cutsOf(votes)
  const pieces: VoicePiece[] = []
  let from = -1
  let end = -1
  let changed = false
  const close = () => {
    if (from < 0) return
    const last = pieces.at(-1)
    const follows = !changed && last !== undefined && from + span.from - last.to <= followsFramesMax
    pieces.push(...partsOf({ from: from + span.from, to: end + span.from }, follows))
    from = -1
    changed = false
  }
  for (let frame = 0; frame < span.to - span.from; frame++) {
    if (cuts.has(frame)) {
      close()
      changed = true
    }
    if (Math.round(votes.voices[frame]! / Math.max(1, votes.views[frame]!)) !== 1) continue
    if (from >= 0 && frame - end > pauseFrames) close()
    if (from < 0) from = frame
    end = frame + 1
  }
  close()
  return pieces
}

function partsOf({ from, to }: FrameSpan, follows: boolean): VoicePiece[] {
  const length = to - from
  const count = length > longestFrames ? Math.ceil(length / aimFrames) : 1
  const edge = (index: number) => from + Math.round((index * length) / count)
  return Array.from({ length: count }, (_, index) => ({
    from: edge(index),
    to: edge(index + 1),
    follows: follows || index > 0,
  }))
}

function votesIn(classes: readonly Uint8Array[], stepFrames: number, { from, to }: FrameSpan): Votes {
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
 * Yields the frames of a view at which the voice changes. A voice that speaks for fewer than `runFramesMin` frames is
 * ignored.
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
 * Returns the frames at which enough views find a change of voice. Of several such frames that are close together,
 * returns only the frame with the most votes.
 */
function cutsOf({ views, changes }: Votes): Set<number> {
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

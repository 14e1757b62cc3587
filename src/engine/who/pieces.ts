// Cuts the recording into pieces. A piece is a span of at most 2.4 s in which one voice speaks alone. It ends at a
// change of voice. It also ends at a pause of more than 0.15 s, or where voices overlap for more than 0.15 s.

import { equalParts, type FrameSpan, framesOf } from './views.ts'
import { cutsOf, votesIn } from './voice-changes.ts'

/** A piece of the recording with one voice. `follows` is true if the previous piece probably has the same voice. */
export type VoicePiece = FrameSpan & { follows: boolean }

/** The maximum length of a pause inside a piece, in frames. Frames in which several voices overlap count as a pause. */
const pauseFrames = framesOf(0.15)
/** The maximum pause, in frames, between two pieces that probably have the same voice. */
const followsFramesMax = framesOf(0.42)
/** The maximum length of a piece, in frames. A longer piece is cut into equal parts of at most `aimFrames`. */
const longestFrames = framesOf(2.4)
const aimFrames = framesOf(2)

/**
 * Returns the spans inside `span` in which one voice speaks alone. `classes` has one array for each view (ten seconds
 * of sound), with the class of each frame: the voices that speak. Each view starts `stepFrames` frames after the
 * previous one.
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

function partsOf(span: FrameSpan, follows: boolean): VoicePiece[] {
  const length = span.to - span.from
  const count = length > longestFrames ? Math.ceil(length / aimFrames) : 1
  return equalParts(span, count).map((part, index) => ({ ...part, follows: follows || index > 0 }))
}

// Finds the speaker of each local voice, which is a voice of one view (ten seconds of sound). A piece is a span in
// which one voice speaks alone, and the speakers of most pieces are already known. In each frame of a piece, the local
// voice gets a vote for the speaker of the piece if this voice speaks alone in the view. The speakers are chosen by
// these votes.

import { assign } from './assignment.ts'
import { classVoices, type FrameSpan, localVoices, viewFrames } from './views.ts'

/**
 * A piece (a span in which one voice speaks alone) and the number of its speaker, or -1 if the speaker is unknown.
 * `forms` is true if the piece was long enough for the clustering that finds the speakers.
 */
export type LabelledPiece = FrameSpan & { speaker: number; forms: boolean }

/**
 * The weight of a vote from a piece (a span in which one voice speaks alone) that was too short for the clustering. All
 * other votes have the weight 1. Each frame of a piece gives at most one vote in a view, and a view has `viewFrames`
 * frames. So all votes of short pieces in a view count together at most as much as one other vote.
 */
const unsureVote = 1 / viewFrames

/**
 * Returns the speaker of each voice in each view (ten seconds of sound), or -1 for a voice without votes. `pieces` are
 * spans in which one voice speaks alone, with their speakers. In each frame of a piece, a voice of the view gets a vote
 * for the speaker of the piece, if no other voice of the view speaks in the frame. The speakers are chosen by these
 * votes.
 */
export function speakersOfViews(
  classes: readonly Uint8Array[],
  stepFrames: number,
  pieces: readonly LabelledPiece[],
  speakerCount: number,
): Int16Array[] {
  let first = 0
  return classes.map((own, view) => {
    const start = view * stepFrames
    while (first < pieces.length && pieces[first]!.to <= start) first++
    const votes = Array.from({ length: localVoices }, () => new Float64Array(speakerCount))
    for (let index = first; index < pieces.length; index++) {
      const { from, to, speaker, forms } = pieces[index]!
      if (from >= start + viewFrames) break
      if (speaker < 0) continue
      for (let frame = Math.max(from, start); frame < Math.min(to, start + viewFrames); frame++) {
        const local = singleVoices.indexOf(classVoices[own[frame - start]!]!)
        if (local >= 0) votes[local]![speaker]! += forms ? 1 : unsureVote
      }
    }
    return assignedSpeakers(votes)
  })
}

/**
 * For each voice of a view (ten seconds of sound), the bit set that contains only this voice. In each frame of the
 * view, the set of the voices that speak is also a bit set (see `classVoices`). If the two bit sets are equal, only
 * this voice speaks in the frame.
 */
const singleVoices = Array.from({ length: localVoices }, (_, local) => 1 << local)

function assignedSpeakers(votes: readonly Float64Array[]): Int16Array {
  const found = new Int16Array(localVoices).fill(-1)
  const heard = votes.flatMap((own, local) => (own.some(count => count > 0) ? [{ own, local }] : []))
  const assigned = assign(heard.map(({ own }) => [...own]))
  for (const [index, { local }] of heard.entries()) found[local] = assigned[index] ?? -1
  return found
}

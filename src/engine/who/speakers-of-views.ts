// Finds the speakers of the voices in each view. A view is ten seconds of sound, in which the segmentation model
// numbers the voices. These numbers say nothing about the other views. The speakers of most pieces are already known (a
// piece is a span in which one voice speaks alone). If only one voice of a view speaks in a frame of a piece, this
// voice is probably the speaker of the piece. So the voice gets a vote for this speaker, and the votes decide.

import { assign } from './assignment.ts'
import { classVoices, type FrameSpan, localVoices, viewFrames } from './views.ts'

/**
 * A piece (a span in which one voice speaks alone) and the number of its speaker, or -1 if the speaker is unknown.
 * `isSure` is false if the piece is so short that its speaker may be wrong.
 */
export type LabelledPiece = FrameSpan & { speaker: number; isSure: boolean }

/**
 * The weight of a vote from a piece whose speaker is not sure. A vote is for one speaker and comes from one frame of a
 * piece (a span in which one voice speaks alone). All other votes have the weight 1. A view (ten seconds of sound) has `viewFrames` frames, so all unsure votes in a
 * view together have at most the weight 1.
 */
const unsureVote = 1 / viewFrames

/**
 * Returns the speaker of each voice in each view (ten seconds of sound), or -1 for a voice without votes. `pieces` are
 * spans in which one voice speaks alone, with the number of the speaker. If only one voice of a view speaks in a frame
 * of a piece, this voice gets a vote for the speaker of the piece. The speakers are chosen by these votes.
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
      const { from, to, speaker, isSure } = pieces[index]!
      if (from >= start + viewFrames) break
      if (speaker < 0) continue
      for (let frame = Math.max(from, start); frame < Math.min(to, start + viewFrames); frame++) {
        const local = singleVoices.indexOf(classVoices[own[frame - start]!]!)
        if (local >= 0) votes[local]![speaker]! += isSure ? 1 : unsureVote
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

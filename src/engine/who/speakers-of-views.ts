// Finds the speaker of each voice of each view. A view is ten seconds of sound. In each view, the segmentation model
// numbers the voices from 0 to 2. Voice 0 of one view and voice 0 of another view may be two persons. The speakers have
// numbers that are the same in the whole recording. An earlier step has found pieces: spans in which one voice speaks
// alone. For most pieces, the speaker is already known. The frames of these pieces give votes. A frame gives a vote if
// only one voice of the view speaks in it. The vote says that this voice is the speaker of the piece. The votes then
// decide the speaker of each voice.

import { assign } from './assignment.ts'
import { classVoices, type FrameSpan, localVoices, viewFrames } from './views.ts'

/**
 * A piece (a span in which one voice speaks alone) and the number of its speaker, or -1 if the speaker is unknown.
 * `isSure` is false if the piece is so short that its speaker may be wrong.
 */
export type LabelledPiece = FrameSpan & { speaker: number; isSure: boolean }

/**
 * Each frame of a piece (a span in which one voice speaks alone) gives one vote for a speaker. A vote has the weight 1,
 * or this weight if it is uncertain who speaks in the piece. A view (ten seconds of sound) has `viewFrames` frames, so
 * all uncertain votes in a view together have at most the weight 1.
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

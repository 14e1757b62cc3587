// Finds the speaker of each voice of each view. A view is ten seconds of sound. The segmentation model numbers the
// voices in each view again from 0. The numbers of speakers are valid in the whole recording.

import { assign } from './assignment.ts'
import { classVoices, type FrameSpan, localVoices, viewFrames } from './views.ts'

/**
 * A span in which one voice speaks alone, with its speaker, or -1 if the speaker is unknown. `isSure` is false if the
 * span is so short that the speaker may be wrong.
 */
export type LabelledPiece = FrameSpan & { speaker: number; isSure: boolean }

/**
 * The weight of an uncertain vote. In each frame in which a voice speaks alone, the voice gets one vote for the speaker
 * of the piece that contains the frame. The vote is uncertain if the piece is so short that its speaker may be the
 * wrong one. All other votes are certain and have the weight 1. A view (ten seconds of sound) has `viewFrames` frames.
 * So all uncertain votes in a view together never weigh more than a single certain vote.
 */
const unsureVote = 1 / viewFrames

/**
 * Returns for each view (ten seconds of sound) the speakers of its voices. The number of a voice is valid only in one
 * view, and the number of a speaker in the whole recording. Each of `pieces` is a span with one speaker. In each frame
 * of a piece in which a voice speaks alone, this voice gets a vote for the speaker of the piece. A voice without votes
 * has the speaker -1.
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
 * For each voice that the segmentation model can find in a view (ten seconds of sound), the bit set that contains only
 * this voice. `classVoices` gives the voices of a frame as a bit set too. If the two sets are equal, the voice speaks
 * alone in the frame.
 */
const singleVoices = Array.from({ length: localVoices }, (_, local) => 1 << local)

function assignedSpeakers(votes: readonly Float64Array[]): Int16Array {
  const found = new Int16Array(localVoices).fill(-1)
  const heard = votes.flatMap((own, local) => (own.some(count => count > 0) ? [{ own, local }] : []))
  const assigned = assign(heard.map(({ own }) => [...own]))
  for (const [index, { local }] of heard.entries()) found[local] = assigned[index] ?? -1
  return found
}

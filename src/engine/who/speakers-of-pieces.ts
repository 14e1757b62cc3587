// Finds the speaker of each piece. A piece is a span in which the segmentation model found only one voice. The model
// may miss a change of speaker. With frame embeddings (one for each 40 ms), such a change within a piece is found too.

import { type EmbeddedPiece, formingSeconds } from './embedded-pieces.ts'
import type { FrameEmbeddings } from './frame-embeddings.ts'
import type { LabelledPiece } from './speakers-of-views.ts'
import { dot, unit } from './unit.ts'
import { equalParts, secondsOf } from './views.ts'

/**
 * The weight of the frame embeddings (one for each 40 ms) when a part of a piece is compared with a speaker. The
 * embedding of the whole piece has the weight 1.
 */
const frameWeight = 0.9
/**
 * A piece is a span in which only one voice should speak, but by mistake it may contain two voices. So if there are
 * frame embeddings (one vector for each 40 ms), each piece is divided into equal parts of about this length, in
 * seconds. The speaker is then chosen for each part separately.
 */
const partSeconds = 0.5
/**
 * The number of rounds that choose the speakers of parts. A part is about half a second of a piece (a span of one
 * voice). At first, each part has the speaker of its piece. A frame embedding is a vector for the voice in 40 ms of
 * sound. Each round first computes the mean frame embedding of each speaker, from all parts that have this speaker now.
 * Parts of short pieces are left out of this mean. Then the round gives each part the most similar speaker.
 */
const rounds = 3

/**
 * A part of a piece. `similarities` compares the embedding of the piece with the centroid of each speaker. `mean` is
 * the mean frame embedding of the part.
 */
type Part = LabelledPiece & { similarities: number[]; mean: Float32Array }

/**
 * Returns the pieces with their speakers. The speaker of a piece is the one with the most similar centroid (mean
 * embedding), or -1 if the piece has no embedding. `isSure` is false for a short piece, whose embedding is not exact
 * enough. If there are frame embeddings (one vector for each 40 ms) and at least two speakers, the result has parts of
 * pieces instead of whole pieces. Each part has its own speaker. For all parts, `isSure` is true, because the frame
 * embeddings are exact enough for short spans too.
 */
export function speakersOfPieces(
  pieces: readonly EmbeddedPiece[],
  centroids: readonly Float32Array[],
  frames: FrameEmbeddings,
): LabelledPiece[] {
  const labelled = pieces.map(({ from, to, vector }) => {
    const similarities = centroids.map(centroid => (vector ? dot(vector, centroid) : 0))
    const isSure = secondsOf({ from, to }) >= formingSeconds
    return { from, to, speaker: vector ? largest(similarities) : -1, isSure, similarities }
  })
  if (frames.isEmpty || centroids.length < 2) return labelled
  let parts: Part[] = labelled.flatMap(piece =>
    equalParts(piece, Math.max(1, Math.round(secondsOf(piece) / partSeconds))).map(part => ({
      ...piece,
      ...part,
      mean: frames.meanIn(part),
    })),
  )
  for (let round = 0; round < rounds; round++) parts = withSpeakers(parts, centroids.length)
  return parts.map(({ from, to, speaker }) => ({ from, to, speaker, isSure: true }))
}

/** Returns the parts of the pieces, each with the speaker to whom the part is most similar. */
function withSpeakers(parts: readonly Part[], speakerCount: number): Part[] {
  const sums = Array.from({ length: speakerCount }, () => new Float32Array(parts[0]?.mean.length ?? 0))
  for (const part of parts) {
    const sum = sums[part.speaker]
    if (!part.isSure || !sum) continue
    for (let at = 0; at < sum.length; at++) sum[at]! += secondsOf(part) * part.mean[at]!
  }
  const means = sums.map(unit)
  return parts.map(part => ({
    ...part,
    speaker: largest(
      part.similarities.map(
        (similarity, speaker) => similarity + frameWeight * dot(part.mean, means[speaker]!),
      ),
    ),
  }))
}

function largest(values: readonly number[]): number {
  return values.indexOf(Math.max(...values))
}

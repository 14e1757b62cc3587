// Finds the speaker of each piece, which is a span in which one voice speaks alone. An earlier step, the clustering,
// has found the speakers. If the speech model gives frame embeddings, they help to find the speaker, also within a
// piece.

import { type EmbeddedPiece, formingSeconds } from './embedded-pieces.ts'
import type { FrameEmbeddings } from './frame-embeddings.ts'
import type { LabelledPiece } from './speakers-of-views.ts'
import { dot, unit } from './unit.ts'
import { equalParts, secondsOf } from './views.ts'

/** The weight of the frame embeddings in a comparison. The embedding of the whole piece has the weight 1. */
const frameWeight = 0.9
/**
 * With frame embeddings, each piece is divided into equal parts of about this length, in seconds, and each part gets
 * its own speaker. So a change of speaker inside a piece is found.
 */
const partSeconds = 0.5
/**
 * Each speaker has a mean frame embedding, over all parts of this speaker. When parts change their speaker, these means
 * change too. So the means and the speakers are computed this number of times.
 */
const rounds = 3

/**
 * A part of a piece. `similarities` says how similar the embedding of the piece is to the centroid of each speaker.
 * `mean` is the mean frame embedding of the part. Only parts of pieces with a sure speaker (`isSure`) are used to
 * compute the mean of a speaker.
 */
type Part = LabelledPiece & { similarities: number[]; mean: Float32Array }

/**
 * Returns the pieces with their speakers. `centroids` has the mean embedding of each speaker. The speaker of a piece is
 * the one with the most similar centroid, or -1 if the piece has no embedding. If there are frame embeddings and at
 * least two speakers, parts of the pieces are returned, each with its own speaker (see `partSeconds`). The speakers of
 * all these parts count as sure.
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

/** Returns the parts, each with the speaker to whom it is most similar. */
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

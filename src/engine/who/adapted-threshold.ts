// Computes the clustering threshold for one recording from the scatter, which is the distance between embeddings of one
// voice in this recording.

import { type EmbeddedPiece, formingSeconds } from './embedded-pieces.ts'
import { dot } from './unit.ts'
import { secondsOf } from './views.ts'

/**
 * The scatter of a usual recording, `distance`, and its weight. The scatter is the distance between two embeddings of
 * one voice. In each recording, N such distances are measured. The scatter of the recording is the weighted mean of
 * their median, with the weight N, and of `distance`, with the weight `weight`.
 */
const usualScatter = { distance: 0.22, weight: 10 }
/**
 * The limits of the clustering threshold, `low` and `high`. Between these limits, the threshold is `multiple` times the
 * scatter of the recording, which says how far apart the embeddings of one voice are.
 */
const adapted = { low: 0.2, high: 0.34, multiple: 1.4 }

/**
 * Returns the clustering threshold for this recording. It depends on the median distance between the embeddings of two
 * neighbouring pieces of at least `formingSeconds` that probably have the same voice. (A piece is a span in which only
 * one voice speaks.) This distance shows how much the embeddings of one voice differ in this recording.
 */
export function adaptedThreshold(pieces: readonly EmbeddedPiece[]): number {
  const distances: number[] = []
  for (const [index, { vector, follows, ...span }] of pieces.entries()) {
    const before = pieces[index - 1]
    if (!follows || !vector || !before?.vector) continue
    if (Math.min(secondsOf(span), secondsOf(before)) >= formingSeconds)
      distances.push(1 - dot(vector, before.vector))
  }
  const median = distances.toSorted((one, other) => one - other)[distances.length >> 1] ?? 0
  const { distance, weight } = usualScatter
  const scatter = (distances.length * median + weight * distance) / (distances.length + weight)
  return Math.min(adapted.high, Math.max(adapted.low, adapted.multiple * scatter))
}

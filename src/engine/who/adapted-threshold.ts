// The clustering threshold for one recording, by how much the embeddings of one voice differ in it.

import { type EmbeddedPiece, formingSeconds } from './embedded-pieces.ts'
import { dot } from './unit.ts'
import { secondsOf } from './views.ts'

/**
 * `distance` is an assumed distance between neighbouring pieces of one voice. It is averaged with the median of the
 * distances that are measured in the recording. In this average, it counts as much as `weight` measured distances, so a
 * few measured distances have little influence.
 */
const usualScatter = { distance: 0.22, weight: 10 }
/**
 * The clustering threshold of a recording is `multiple` times the typical distance between neighbouring pieces of one
 * voice (see `adaptedThreshold`). It is at least `low` and at most `high`.
 */
const adapted = { low: 0.2, high: 0.34, multiple: 1.4 }

/**
 * Returns the clustering threshold for this recording. It depends on how much the embeddings of one voice differ,
 * because this is not the same in all recordings. Two neighbouring pieces without a change of voice between them have
 * the same voice, so the distance between their embeddings is measured.
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

// Computes the clustering threshold for one recording from the scatter, the distance between embeddings of one voice.

import { type EmbeddedPiece, formingSeconds } from './embedded-pieces.ts'
import { dot } from './unit.ts'
import { secondsOf } from './views.ts'

/**
 * The usual scatter, and its weight. The scatter is the distance between two embeddings of one voice. In a recording,
 * this distance is measured between neighbouring pieces that probably have the same voice. The scatter of the recording
 * is the weighted mean of the usual scatter and the median of the measured distances. The weight of the median is the
 * number of measured distances. So a few measured distances change the scatter only a little.
 */
const usualScatter = { distance: 0.22, weight: 10 }
/**
 * The clustering threshold is `multiple` times the scatter of the recording (the distance between embeddings of one
 * voice), but at least `low` and at most `high`.
 */
const adapted = { low: 0.2, high: 0.34, multiple: 1.4 }

/**
 * Returns the clustering threshold for this recording. It depends on the median distance between the embeddings of
 * neighbouring long pieces that probably have the same voice. A piece is a span in which one voice speaks alone.
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

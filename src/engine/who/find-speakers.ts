// Finds the speakers of a recording by clustering the embeddings of its pieces (spans in which one voice speaks alone).
// Each cluster with enough speech is a speaker.

import { adaptedThreshold } from './adapted-threshold.ts'
import { findVoices } from './cluster.ts'
import { type EmbeddedPiece, formingSeconds } from './embedded-pieces.ts'
import { findVoicesByVbx } from './vbx-voices.ts'
import { secondsOf } from './views.ts'
import type { Voices } from './voices.ts'

/**
 * A cluster with less speech than a minimum is not a speaker. The minimum is `seconds` if all clusters together have at
 * most `speechSeconds` seconds of speech. Above this, the minimum grows with the square root of the total speech. The
 * reason: outliers (embeddings unlike those of their voice) form larger clusters in longer recordings. With very little
 * speech, `findVoices` uses a lower minimum.
 */
const speakerSecondsMin = { seconds: 5, speechSeconds: 100 }

/**
 * The settings for embeddings that the PLDA model (probabilistic linear discriminant analysis) has projected. VBx
 * (variational Bayes) clusters such embeddings:
 * - `start`: VBx begins with clusters that are at least this far apart. The value is low, because VBx must begin with
 *   more clusters than there are voices.
 * - `embeddingSeconds`: VBx expects one embedding for each stretch of speech of this length. A longer piece of speech
 *   counts as several embeddings.
 * - `threshold`: used if the caller gave the number of voices and VBx finds another number. `findVoices` then clusters
 *   the embeddings again, without VBx. Clusters with at least this mean cosine distance stay separate. If this gives
 *   another number of voices than the caller's, a similar distance that gives the caller's number is used, if possible.
 *   In meetings, all values from 0.80 to 0.86 separate the voices correctly.
 */
const projected = { threshold: 0.83, start: 0.62, embeddingSeconds: 0.24 }

/** Returns the centroid of the embeddings of each speaker. */
export function findSpeakers(
  pieces: readonly EmbeddedPiece[],
  { plda, profile }: Voices,
  expected: number | null,
): Float32Array[] {
  const { mergeBelow } = profile
  const all = pieces.flatMap(({ vector, ...span }) => (vector ? [{ vector, weight: secondsOf(span) }] : []))
  const forming = all.filter(({ weight }) => weight >= formingSeconds)
  const total = forming.reduce((sum, { weight }) => sum + weight, 0)
  const used = forming.length > 1 ? forming : all
  const secondsMin =
    speakerSecondsMin.seconds * Math.sqrt(Math.max(1, total / speakerSecondsMin.speechSeconds))
  if (plda) {
    const dense = used.map(({ vector, weight }) => ({
      vector,
      weight: weight / projected.embeddingSeconds,
    }))
    const found = findVoicesByVbx(dense, plda, {
      start: projected.start,
      weightMin: secondsMin / projected.embeddingSeconds,
    })
    if (expected === null || found.length === expected) return found
  }
  const fixed = plda ? projected.threshold : profile.threshold
  return findVoices(used, {
    threshold: mergeBelow === null ? fixed : adaptedThreshold(pieces),
    mergeBelow,
    expected,
    weightMin: secondsMin,
  })
}

// Finds the voices of a recording by VBx, a clustering by variational Bayes. VBx starts with the clusters that an
// agglomerative clustering finds.

import { agglomerateInBlocks, type Weighted } from './agglomerate.ts'
import type { Plda } from './plda.ts'
import { dot, unit } from './unit.ts'
import { vbx } from './vbx.ts'

/** A speaker is removed when the speaker's share of all embeddings is this value or less. */
const shareMin = 1e-7

export type VbxOptions = {
  /**
   * VBx starts with the clusters of an agglomerative clustering, which merges clusters whose distance is below `start`.
   * A low value gives VBx many clusters.
   */
  start: number
  /**
   * The minimum weight of a voice. The weight of a voice is the sum of the weights of its embeddings. A voice below the
   * minimum is removed. If all voices are below it, the voice with the largest weight remains.
   */
  weightMin: number
}

/**
 * Finds the voices in the embeddings by VBx (clustering by variational Bayes). Returns the centroid of each voice: the
 * mean embedding, scaled to the length 1. The voice with the most speech is first. All embeddings must be projected by
 * `plda`.
 */
export function findVoicesByVbx(
  embeddings: readonly Weighted[],
  plda: Plda,
  { start, weightMin }: VbxOptions,
): Float32Array[] {
  const clusters = agglomerateInBlocks(embeddings, start).map(({ sum }) => unit(sum))
  if (clusters.length < 2) return clusters
  const features = embeddings.map(({ vector }) => plda.features(vector))
  const weights = embeddings.map(({ weight }) => weight)
  const { memberships, shares } = vbx(features, weights, plda.between, nearestOf(embeddings, clusters))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const speakers = [...shares.keys()]
    .filter(speaker => shares[speaker]! > shareMin)
    .toSorted((one, other) => shares[other]! - shares[one]!)
  const heard = speakers.filter(speaker => shares[speaker]! * total >= weightMin)
  return (heard.length > 0 ? heard : speakers.slice(0, 1)).map(speaker => {
    const sum = new Float32Array(embeddings[0]!.vector.length)
    for (const [index, { vector, weight }] of embeddings.entries())
      for (let at = 0; at < sum.length; at++) sum[at]! += weight * memberships[index]![speaker]! * vector[at]!
    return unit(sum)
  })
}

function nearestOf(embeddings: readonly Weighted[], centroids: readonly Float32Array[]): number[] {
  return embeddings.map(({ vector }) => {
    const likeness = centroids.map(centroid => dot(vector, centroid))
    return likeness.indexOf(Math.max(...likeness))
  })
}

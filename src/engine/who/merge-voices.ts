// Merges voices that are probably one person.

import { largestFirst } from './agglomerate.ts'
import type { Cluster } from './linkage.ts'
import { dot } from './unit.ts'

/**
 * With little speech, the distance between two voices is less exact, so the limit for their merge is higher. This
 * number, divided by the seconds of speech of the voice with less speech, is added to the limit.
 */
const briefness = 0.4

/** A voice. `own` is the mean cosine over all pairs of different embeddings of this voice. */
type Voice = { cluster: Cluster; own: number }

/**
 * Merges the two voices whose distance is furthest below their limit, until no distance is below its limit. The limit
 * of two voices is `limit`, plus an amount that is larger for voices with little speech.
 *
 * A cluster stands for the embeddings of one voice. Its weight is its speech in seconds. `pieceWeight` is the mean
 * length of speech of one embedding, in seconds. The number of embeddings in a cluster is estimated with it. The
 * cluster with the largest weight is first in the result.
 */
export function mergeVoices(clusters: readonly Cluster[], limit: number, pieceWeight: number): Cluster[] {
  const voiceOf = (cluster: Cluster): Voice => ({ cluster, own: ownCosine(cluster, pieceWeight) })
  let voices = clusters.map(voiceOf)
  for (;;) {
    const pair = closestPair(voices, limit)
    if (!pair) return largestFirst(voices.map(({ cluster }) => cluster))
    const [one, other] = pair
    const both = {
      sum: one.cluster.sum.map((value, at) => value + other.cluster.sum[at]!),
      weight: one.cluster.weight + other.cluster.weight,
    }
    voices = [...voices.filter(voice => voice !== one && voice !== other), voiceOf(both)]
  }
}

/**
 * Estimates the mean cosine over all pairs of different embeddings of the cluster. `itself` is the share of the pairs
 * that combine an embedding with itself. The estimate leaves these pairs out.
 */
function ownCosine({ sum, weight }: Cluster, pieceWeight: number): number {
  const itself = Math.min(0.9, pieceWeight / weight)
  return (dot(sum, sum) / weight ** 2 - itself) / (1 - itself)
}

/**
 * Returns the pair of voices whose distance is furthest below the limit of the pair. The limit of a pair is `limit`,
 * plus an amount that is larger if one of the two voices has little speech. Returns null if no pair has a distance
 * below its limit.
 */
function closestPair(voices: readonly Voice[], limit: number): [Voice, Voice] | null {
  let lowest = 0
  let pair: [Voice, Voice] | null = null
  for (const [index, one] of voices.entries())
    for (const other of voices.slice(0, index)) {
      const seconds = Math.min(one.cluster.weight, other.cluster.weight)
      const above = distanceWithoutScatter(one, other) - (limit + briefness / seconds)
      if (above >= lowest) continue
      lowest = above
      pair = [one, other]
    }
  return pair
}

/**
 * Returns the distance between two voices. For two clusters of one person, it is near 0. The distance is 1 minus a
 * ratio: the mean cosine between the two voices, divided by the mean cosine within the voices (the geometric mean of
 * the two values `own`). The distance is 1 if a value `own` is not positive.
 */
function distanceWithoutScatter(one: Voice, other: Voice): number {
  if (one.own <= 0 || other.own <= 0) return 1
  const cosine = dot(one.cluster.sum, other.cluster.sum) / (one.cluster.weight * other.cluster.weight)
  return 1 - cosine / Math.sqrt(one.own * other.own)
}

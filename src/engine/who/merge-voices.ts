// Merges voices that are probably one person.

import { largestFirst } from './agglomerate.ts'
import type { Cluster } from './linkage.ts'
import { dot } from './unit.ts'

/**
 * The distance between two voices is less exact if one of them has little speech. The limit of the distance is
 * therefore raised by this value, divided by the seconds of speech of the voice that has less.
 */
const briefness = 0.4

/** A voice. `own` is the mean cosine between two different embeddings of this voice. */
type Voice = { cluster: Cluster; own: number }

/**
 * Merges pairs of voices, as long as the distance of a pair is below `limit`. The limit is higher for voices with
 * little speech (see `briefness`). The weight of a cluster is its speech in seconds. `pieceWeight` is the mean length
 * of speech of one embedding, in seconds. The cluster with the largest weight is first in the result.
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
 * Estimates the mean cosine between two different embeddings of the cluster. `itself` is the share of pairs of an
 * embedding with itself, which are removed.
 */
function ownCosine({ sum, weight }: Cluster, pieceWeight: number): number {
  const itself = Math.min(0.9, pieceWeight / weight)
  return (dot(sum, sum) / weight ** 2 - itself) / (1 - itself)
}

/** Returns the two voices whose distance is furthest below their limit, or null if no distance is below its limit. */
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
 * Returns the distance between two voices, which is near 0 for two clusters of the same voice. It is 1 minus a ratio:
 * the mean cosine between the voices, divided by the geometric mean of the mean cosines within each voice. It is 1 if a
 * mean cosine within a voice is not positive.
 */
function distanceWithoutScatter(one: Voice, other: Voice): number {
  if (one.own <= 0 || other.own <= 0) return 1
  const cosine = dot(one.cluster.sum, other.cluster.sum) / (one.cluster.weight * other.cluster.weight)
  return 1 - cosine / Math.sqrt(one.own * other.own)
}

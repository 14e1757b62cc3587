// Merges voices that are probably one person. After the clustering, the speech of one person can still be in several
// clusters.

import { largestFirst } from './agglomerate.ts'
import type { Cluster } from './linkage.ts'
import { dot } from './unit.ts'

/**
 * The limit of the distance grows for a voice with little speech, because its distance is less exact. The limit grows by
 * this value, divided by the seconds of speech of the voice. If two voices are compared, the voice with less speech
 * counts.
 */
const briefness = 0.4

/** A voice: its cluster, and the mean cosine (`own`) between two different embeddings of this voice. */
type Voice = { cluster: Cluster; own: number }

/**
 * Merges the two closest voices again and again, as long as their distance is below a limit. The limit is `limit`, and a
 * little more for a voice with little speech. The weight of a cluster is its speech in seconds. `pieceWeight` is the
 * mean weight of an embedding. The cluster with the largest weight is first in the result.
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
 * Returns the mean cosine between two different embeddings of the cluster. The mean over all pairs includes the pair of
 * each embedding with itself, whose cosine is 1. The formula removes these pairs. `itself` is their share of all pairs.
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
 * Returns the distance between two voices without their scatter, which is the distance between the embeddings of one
 * voice. It is near 0 for two clusters of the same voice, even if the embeddings of this voice scatter much. It is one
 * minus the mean cosine between the voices, divided by the geometric mean of the mean cosines in each voice. The
 * distance is 1 if the embeddings of a voice have nothing in common.
 */
function distanceWithoutScatter(one: Voice, other: Voice): number {
  if (one.own <= 0 || other.own <= 0) return 1
  const cosine = dot(one.cluster.sum, other.cluster.sum) / (one.cluster.weight * other.cluster.weight)
  return 1 - cosine / Math.sqrt(one.own * other.own)
}

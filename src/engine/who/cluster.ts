// Finds the voices in the embeddings of a recording by average linkage (agglomerate.ts). A cluster with enough speech
// is a voice. Voices that are too similar become one voice.

import {
  agglomerate,
  agglomerateInBlocks,
  clusterBlocks,
  largestFirst,
  type Weighted,
} from './agglomerate.ts'
import type { Cluster } from './linkage.ts'
import { mergeVoices } from './merge-voices.ts'
import { unit } from './unit.ts'

export type ClusterOptions = {
  /** Two clusters are different voices if their mean cosine distance is `threshold` or more. */
  threshold: number
  /**
   * Two voices become one voice if their distance is below a limit. The limit is `mergeBelow`, plus an amount that is
   * larger for voices with little speech. merge-voices.ts computes the distance and the limit. If `mergeBelow` is null,
   * or if the caller gave the number of voices, all voices stay separate.
   */
  mergeBelow: number | null
  /**
   * The minimum speech of a voice, in seconds. A cluster with less speech is not a voice. In a recording with little
   * speech, the minimum is lower: a fifth of all speech, but at least half of `weightMin`. If no cluster has enough
   * speech, the largest cluster is a voice.
   */
  weightMin: number
  /** The number of voices that the caller expects. Null if the caller gave no number. */
  expected: number | null
}

/**
 * The smallest and the largest factor for `threshold`, if the caller gave the number of voices. A factor in this range
 * is chosen so that the clustering finds this number of voices, if possible.
 */
const thresholdRange = { low: 0.8, high: 1.5 }

/** Returns the centroid of each voice. The voice whose embeddings have the largest total weight is first. */
export function findVoices(embeddings: readonly Weighted[], options: ClusterOptions): Float32Array[] {
  if (embeddings.length === 0) return []
  const total = embeddings.reduce((sum, { weight }) => sum + weight, 0)
  const weightMin = Math.min(options.weightMin, Math.max(options.weightMin / 2, total / 5))
  const isVoice = ({ weight }: Cluster) => weight >= weightMin
  const clusters = largestFirst(findClusters(embeddings, isVoice, options))
  const found = clusters.filter(isVoice)
  const voices = found.length > 0 ? found : clusters.slice(0, 1)
  const { mergeBelow, expected } = options
  const different =
    mergeBelow === null || expected !== null
      ? voices
      : mergeVoices(voices, mergeBelow, total / embeddings.length)
  return different.map(({ sum }) => unit(sum))
}

function findClusters(
  embeddings: readonly Weighted[],
  isVoice: (cluster: Cluster) => boolean,
  { threshold, expected }: ClusterOptions,
): Cluster[] {
  if (expected === null) return agglomerateInBlocks(embeddings, threshold)
  let best: Cluster[] = []
  let bestMiss = Number.POSITIVE_INFINITY
  let reached = 0
  const blocks = clusterBlocks(embeddings, threshold * thresholdRange.low)
  // Called before each merge of two clusters, and at the end. The present clusters are one possible result. A cluster
  // with enough speech is a voice. Keeps the result whose number of voices is nearest to `expected`. If several results
  // are equally near, keeps the one that needs the smallest change of `threshold`.
  const onStep = (clusters: () => Cluster[], next: number) => {
    // Each threshold between `reached` (the largest distance of the merges so far) and `next` (the distance of the next
    // merge) gives the present clusters. `factor` says by how much `threshold` must be multiplied or divided to be in
    // this range. It is 1 if `threshold` is already in this range, and larger than 1 otherwise.
    const factor = reached > threshold ? reached / threshold : next < threshold ? threshold / next : 1
    reached = Math.max(reached, next)
    const found = clusters()
    const miss = Math.abs(found.filter(isVoice).length - expected) + factor / 100
    if (miss >= bestMiss) return
    best = found
    bestMiss = miss
  }
  agglomerate(blocks, threshold * thresholdRange.high, { onStep })
  return best
}

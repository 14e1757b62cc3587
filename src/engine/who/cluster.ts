// Finds the voices in the embeddings of a recording by average linkage (agglomerate.ts). A cluster with enough speech
// is a voice, and voices that are too similar become one voice.

import {
  agglomerate,
  agglomerateInBlocks,
  clusterBlocks,
  largestFirst,
  type Weighted,
} from './agglomerate.ts'
import type { Cluster } from './linkage.ts'
import { dot, unit } from './unit.ts'

export type ClusterOptions = {
  /** Two clusters are different voices if their mean cosine distance is `threshold` or more. */
  threshold: number
  /**
   * Two voices become one voice if their embeddings are close. The mean distance from the embeddings of one voice to
   * the embeddings of the other voice must be less than `likeness` times the scatter. The scatter is the mean distance
   * between two embeddings of the same voice, over all voices of the recording. If `likeness` is null, or if the caller
   * gave the number of voices, no voices are merged by this rule.
   */
  likeness: number | null
  /**
   * A cluster with less speech than this, in seconds, is not a voice. In a recording with little speech, this minimum
   * is lowered to a fifth of all speech, but not below half of `weightMin`.
   */
  weightMin: number
  /** The number of voices that the caller expects. Null if the caller gave no number. */
  expected: number | null
}

/**
 * If the caller gave the number of voices, `threshold` may be multiplied by a factor from `low` to `high`, so that this
 * number of voices is found.
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
  const { likeness, expected } = options
  const different =
    likeness === null || expected !== null ? voices : mergeAlike(voices, likeness, total / embeddings.length)
  return different.map(({ sum }) => unit(sum))
}

/**
 * Merges the two closest voices again and again, as long as their embeddings are close. The mean distance from the
 * embeddings of one voice to the embeddings of the other voice must be less than `likeness` times the scatter. The
 * scatter is the mean distance between two embeddings of the same voice, over all voices. The weight of an embedding is
 * the length of its speech in seconds. `pieceWeight` is the mean of these weights, and is used to estimate the number
 * of embeddings of a voice.
 */
function mergeAlike(voices: readonly Cluster[], likeness: number, pieceWeight: number): Cluster[] {
  const within = ({ sum, weight }: Cluster) => {
    // The mean cosine over all pairs includes the pair of each embedding with itself, whose cosine is 1. The formula
    // removes these pairs. `own` is their share of all pairs.
    const own = Math.min(0.9, pieceWeight / weight)
    return 1 - (dot(sum, sum) / weight ** 2 - own) / (1 - own)
  }
  let merged = largestFirst(voices)
  while (merged.length > 1) {
    const total = merged.reduce((sum, { weight }) => sum + weight, 0)
    const scatter = merged.reduce((sum, voice) => sum + voice.weight * within(voice), 0) / total
    const next = agglomerate(merged, likeness * scatter, { mergesMax: 1 })
    if (next.length === merged.length) break
    merged = largestFirst(next)
  }
  return merged
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
  const onStep = (clusters: () => Cluster[], next: number) => {
    // Every threshold from `reached` to `next` would give the clusters of this step. `reached` is the largest distance
    // of the merges so far, and `next` is the distance of the next merge. `factor` shows how far `threshold` is from
    // this range. It is 1 inside the range, and otherwise the ratio (above 1) between `threshold` and the nearest end
    // of the range.
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

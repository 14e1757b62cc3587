// Finds the voices in the embeddings of a recording. The embeddings are clustered by average linkage (linkage.ts). A
// cluster of enough weight is a voice, and voices that are too similar become one voice.

import {
  agglomerate,
  agglomerateInBlocks,
  type Cluster,
  clusterBlocks,
  largestFirst,
  type Weighted,
} from './linkage.ts'
import { dot, unit } from './unit.ts'

export type ClusterOptions = {
  /** Two clusters whose mean cosine distance is `threshold` or more are different voices. */
  threshold: number
  /**
   * Two voices become one voice if their mean distance is less than `likeness` times the scatter of the voices. Null
   * means that no voices are merged afterwards.
   */
  likeness: number | null
  /**
   * The minimum weight of a voice. A cluster of less weight is not a voice. In a short recording the minimum is
   * lower, but never less than half of this value.
   */
  weightMin: number
  /** The number of voices that the caller expects, or null when it is unknown. */
  expected: number | null
}

/**
 * The factors by which the threshold may change if the caller expects a number of voices. Otherwise the threshold
 * does not change.
 */
const thresholdRange = { low: 0.8, high: 1.5 }

/**
 * Returns the centroids of the voices. The voice with the largest weight is first. `embeddings` must not contain the
 * embeddings of short pieces, which are not reliable.
 */
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
 * Repeatedly merges the two closest voices, as long as their mean distance is less than `likeness` times the scatter
 * of the voices. `pieceWeight` is the mean weight of an embedding.
 */
function mergeAlike(voices: readonly Cluster[], likeness: number, pieceWeight: number): Cluster[] {
  const within = ({ sum, weight }: Cluster) => {
    // The mean cosine over all pairs of a cluster includes each embedding's pair with itself, whose cosine is 1. The
    // formula removes these pairs from the mean. `own` is their share of the weight.
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
    // All thresholds between the distance of the last merge and the distance of the next merge give the present
    // clusters. `factor` is the smallest factor that moves the given threshold into this range.
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

// Agglomerative clustering of voice embeddings with average linkage. First the embeddings in each block of `blockSize`
// are clustered, and then the clusters of all blocks. So ten hours of sound need no matrix of all distances.

import { type Cluster, Linkage } from './linkage.ts'

/**
 * The embedding of one piece (a span in which one voice speaks alone) as a unit vector. `weight` is usually the length
 * of the piece in seconds. For the clustering method VBx, `weight` is the number of short spans of fixed length in the
 * piece.
 */
export type Weighted = { vector: Float32Array; weight: number }

/** The number of embeddings in a block. The distance matrix of a block has `blockSize`² entries. */
const blockSize = 1200

/**
 * Merges embeddings into clusters, block by block, in several rounds if there are many. Only clusters with a distance
 * below `limit` are merged. Returns at most `blockSize` clusters: if more clusters remain, the smallest are dropped.
 */
export function clusterBlocks(embeddings: readonly Weighted[], limit: number): Cluster[] {
  let clusters: Cluster[] = embeddings.map(({ vector, weight }) => ({
    sum: vector.map(value => value * weight),
    weight,
  }))
  while (clusters.length > blockSize) {
    const merged: Cluster[] = []
    for (let at = 0; at < clusters.length; at += blockSize)
      merged.push(...agglomerate(clusters.slice(at, at + blockSize), limit))
    // If more than 70 % of the clusters remain after a round, most are outliers, and another round would merge few. So
    // only the largest clusters are kept. A small cluster is never a voice.
    if (merged.length > 0.7 * clusters.length) return largestFirst(merged).slice(0, blockSize)
    clusters = merged
  }
  return agglomerate(clusters, limit)
}

/**
 * Merges the two closest clusters again and again, until all distances are at least `limit`. More than `blockSize`
 * embeddings are first merged in blocks. If too many clusters then remain, the smallest are dropped.
 */
export function agglomerateInBlocks(embeddings: readonly Weighted[], limit: number): Cluster[] {
  return agglomerate(clusterBlocks(embeddings, limit), limit)
}

export function largestFirst(clusters: readonly Cluster[]): Cluster[] {
  return clusters.toSorted((one, other) => other.weight - one.weight)
}

/**
 * `onStep` is called before the first merge and after each merge. `next` is the distance of the two closest clusters.
 * These clusters are merged next if `next` is below the limit.
 */
type Steps = { onStep?: (clusters: () => Cluster[], next: number) => void }

/** Merges the two closest clusters again and again, until all distances are at least `limit`. */
export function agglomerate(clusters: readonly Cluster[], limit: number, { onStep }: Steps = {}): Cluster[] {
  const linkage = new Linkage(clusters)
  for (;;) {
    const { first, second, distance } = linkage.closest()
    onStep?.(() => linkage.clusters(), distance)
    if (distance >= limit) return linkage.clusters()
    linkage.merge(first, second)
  }
}

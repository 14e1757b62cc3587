// Agglomerative clustering of voice embeddings with average linkage. A long recording is clustered in blocks.
// Then the clusters of all blocks are clustered again. So a recording of ten hours needs no distance matrix
// of all pairs.
//
// The mean cosine distance over all pairs of two clusters is one minus the dot product of their centroids. So
// the centroid and the size describe a cluster completely, and clustering in blocks loses no information.
//
// pyannote uses the distance of the normalised centroids instead. That distance shrinks when the embeddings
// of a voice scatter. In short or noisy recordings, all speakers then become one speaker
// (scripts/bench/diarize.ts).

import { dot, unit } from './unit.ts'

/**
 * A cluster of embeddings that are treated as one voice. `sum` is the sum of their vectors, and `count` is
 * their number.
 */
export type Cluster = { sum: Float32Array; count: number }

export type ClusterOptions = {
  /** Two clusters are different voices when their mean cosine distance is `threshold` or more. */
  threshold: number
  /** A cluster with fewer embeddings than this does not count as a voice. */
  embeddingsMin: number
  /** The number of voices that the caller expects, or null when it is unknown. */
  expected: number | null
}

/** The number of embeddings in one block. The distance matrix of a block has blockSize² entries. */
const blockSize = 1200
/** The factors between which the threshold may vary if a number of voices is expected. */
const thresholdRange = { low: 0.8, high: 1.5 }

/**
 * Returns the centroids of the voices. The voice with the most embeddings is first. `vectors` must be unit
 * vectors, and only those that may form a voice.
 */
export function findVoices(vectors: readonly Float32Array[], options: ClusterOptions): Float32Array[] {
  if (vectors.length === 0) return []
  const countMin = Math.min(options.embeddingsMin, Math.max(1, Math.round(vectors.length / 10)))
  const isVoice = ({ count }: Cluster) => count >= countMin
  const clusters = largestFirst(findClusters(vectors, isVoice, options))
  const voices = clusters.filter(isVoice)
  return (voices.length > 0 ? voices : clusters.slice(0, 1)).map(({ sum }) => unit(sum))
}

function findClusters(
  vectors: readonly Float32Array[],
  isVoice: (cluster: Cluster) => boolean,
  { threshold, expected }: ClusterOptions,
): Cluster[] {
  if (expected === null) return agglomerate(clusterBlocks(vectors, threshold), threshold)
  let best: Cluster[] = []
  let bestMiss = Number.POSITIVE_INFINITY
  let reached = 0
  const blocks = clusterBlocks(vectors, threshold * thresholdRange.low)
  agglomerate(blocks, threshold * thresholdRange.high, (clusters, next) => {
    // These clusters are the result of every threshold between the distance of the last merge and the
    // distance of the next merge. `factor` is the smallest change of the threshold that brings it into this
    // range.
    const factor = reached > threshold ? reached / threshold : next < threshold ? threshold / next : 1
    reached = Math.max(reached, next)
    const found = clusters()
    const miss = Math.abs(found.filter(isVoice).length - expected) + factor / 100
    if (miss >= bestMiss) return
    best = found
    bestMiss = miss
  })
  return best
}

/**
 * Clusters block by block until at most `blockSize` clusters remain. Two clusters at a distance of `limit` or
 * more are not merged.
 */
function clusterBlocks(vectors: readonly Float32Array[], limit: number): Cluster[] {
  let clusters: Cluster[] = vectors.map(sum => ({ sum, count: 1 }))
  while (clusters.length > blockSize) {
    const merged: Cluster[] = []
    for (let at = 0; at < clusters.length; at += blockSize)
      merged.push(...agglomerate(clusters.slice(at, at + blockSize), limit))
    // Few clusters were merged, because outliers remain alone. The smallest clusters are dropped: they are
    // too small to become a voice.
    if (merged.length > 0.7 * clusters.length) return largestFirst(merged).slice(0, blockSize)
    clusters = merged
  }
  return agglomerate(clusters, limit)
}

function largestFirst(clusters: readonly Cluster[]): Cluster[] {
  return clusters.toSorted((one, other) => other.count - one.count)
}

/**
 * Merges the two closest clusters, again and again, until no two clusters are closer than `limit`. `onStep`
 * is called before the first merge and after each merge. It receives the clusters and the distance of the
 * next merge.
 */
export function agglomerate(
  clusters: readonly Cluster[],
  limit: number,
  onStep: (clusters: () => Cluster[], next: number) => void = () => {},
): Cluster[] {
  const linkage = new Linkage(clusters)
  for (;;) {
    const { first, second, distance } = linkage.closest()
    onStep(() => linkage.clusters(), distance)
    if (distance >= limit) return linkage.clusters()
    linkage.merge(first, second)
  }
}

/** The distances of all pairs of clusters, and the nearest neighbour of each cluster. */
class Linkage {
  /** The clusters. A slot becomes null when its cluster is merged into another cluster. */
  private readonly slots: (Cluster | null)[]
  private readonly distances: Float32Array
  private readonly nearest: Int32Array
  /**
   * For each cluster, a lower bound of the distance to its nearest neighbour. After a merge the bound may be
   * too low. A bound is recomputed only when it is the lowest of all bounds.
   */
  private readonly bounds: Float32Array

  constructor(clusters: readonly Cluster[]) {
    const size = clusters.length
    this.slots = [...clusters]
    this.distances = new Float32Array(size * size)
    this.nearest = new Int32Array(size)
    this.bounds = new Float32Array(size)
    const centroids = clusters.map(centroidOf)
    for (const [row, one] of centroids.entries())
      for (const [column, other] of centroids.slice(0, row).entries())
        this.setDistance(row, column, 1 - dot(one, other))
    for (let row = 0; row < size; row++) this.findNearest(row)
  }

  clusters(): Cluster[] {
    return this.slots.filter(cluster => cluster !== null)
  }

  /**
   * Returns the slots of the two closest clusters, and their distance. If only one cluster remains, the
   * distance is infinite.
   */
  closest(): { first: number; second: number; distance: number } {
    let first = 0
    for (;;) {
      for (let row = 0; row < this.slots.length; row++)
        if (this.slots[row] && (!this.slots[first] || this.bounds[row]! < this.bounds[first]!)) first = row
      const distance = this.bounds[first] ?? Number.POSITIVE_INFINITY
      const second = this.nearest[first] ?? 0
      if (distance === Number.POSITIVE_INFINITY) return { first, second, distance }
      if (this.slots[second] && this.distance(first, second) === distance) return { first, second, distance }
      this.findNearest(first)
    }
  }

  /** Merges the cluster in slot `second` into slot `first`. */
  merge(first: number, second: number): void {
    const one = this.slots[first]
    const other = this.slots[second]
    if (!one || !other) throw new RangeError('only two clusters can be merged')
    const merged = {
      sum: one.sum.map((value, at) => value + other.sum[at]!),
      count: one.count + other.count,
    }
    this.slots[first] = merged
    this.slots[second] = null
    const share = one.count / merged.count
    const otherShare = other.count / merged.count
    for (let row = 0; row < this.slots.length; row++) {
      if (!this.slots[row] || row === first) continue
      const mean = share * this.distance(row, first) + otherShare * this.distance(row, second)
      this.setDistance(first, row, mean)
      if (this.distance(row, first) >= this.bounds[row]!) continue
      this.bounds[row] = mean
      this.nearest[row] = first
    }
    this.findNearest(first)
  }

  private findNearest(row: number): void {
    this.bounds[row] = Number.POSITIVE_INFINITY
    for (let other = 0; other < this.slots.length; other++) {
      if (other === row || !this.slots[other] || this.distance(row, other) >= this.bounds[row]!) continue
      this.bounds[row] = this.distance(row, other)
      this.nearest[row] = other
    }
  }

  private distance(row: number, column: number): number {
    return this.distances[row * this.slots.length + column]!
  }

  private setDistance(row: number, column: number, distance: number): void {
    this.distances[row * this.slots.length + column] = distance
    this.distances[column * this.slots.length + row] = distance
  }
}

function centroidOf({ sum, count }: Cluster): Float32Array {
  return sum.map(value => value / count)
}

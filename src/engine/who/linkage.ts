// The distances between clusters of voice embeddings, with average linkage: the mean cosine distance over all pairs
// with one embedding of each cluster. This mean is one minus the dot product of the two centroids, if the centroids are
// not normalised. With normalised centroids, as in pyannote, all speakers of short or noisy recordings become one
// speaker (measured by scripts/bench/diarize.ts).

import { dot } from './unit.ts'

/**
 * A cluster of embeddings. `sum` is the sum of the embeddings, each multiplied by its weight. `weight` is the sum of
 * these weights.
 */
export type Cluster = { sum: Float32Array; weight: number }

/**
 * The distances between all pairs of clusters. Also stores a lower bound of the distance from each cluster to its
 * nearest cluster.
 */
export class Linkage {
  /** The clusters, one in each slot. When a cluster is merged into another cluster, its slot becomes null. */
  private readonly slots: (Cluster | null)[]
  private readonly distances: Float32Array
  private readonly nearest: Int32Array
  /**
   * For each cluster, a lower bound of the distance to its nearest other cluster. After a merge, only the bound of the
   * merged cluster is computed again. The other bounds remain lower bounds, but may be below the real distance.
   * `closest` computes such a bound again when it is the lowest.
   */
  private readonly bounds: Float32Array

  constructor(clusters: readonly Cluster[]) {
    const size = clusters.length
    this.slots = [...clusters]
    this.distances = new Float32Array(size * size)
    this.nearest = new Int32Array(size)
    this.bounds = new Float32Array(size)
    const centroids = clusters.map(centroidOf)
    for (let row = 0; row < size; row++)
      for (let column = 0; column < row; column++)
        this.setDistance(row, column, 1 - dot(centroids[row]!, centroids[column]!))
    for (let row = 0; row < size; row++) this.findNearest(row)
  }

  clusters(): Cluster[] {
    return this.slots.filter(cluster => cluster !== null)
  }

  /**
   * Returns the two closest clusters, as indices in `slots`, and their distance. The distance is infinite if only one
   * cluster remains.
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

  /** Merges the cluster at the index `second` of `slots` into the cluster at the index `first`. */
  merge(first: number, second: number): void {
    const one = this.slots[first]
    const other = this.slots[second]
    if (!one || !other) throw new RangeError('only two clusters can be merged')
    const merged = {
      sum: one.sum.map((value, at) => value + other.sum[at]!),
      weight: one.weight + other.weight,
    }
    this.slots[first] = merged
    this.slots[second] = null
    const share = one.weight / merged.weight
    const otherShare = other.weight / merged.weight
    for (let row = 0; row < this.slots.length; row++) {
      if (!this.slots[row] || row === first) continue
      // The matrix of distances is symmetric, so rows are read here instead of columns. Reading along a row is faster.
      const mean = share * this.distance(first, row) + otherShare * this.distance(second, row)
      this.setDistance(first, row, mean)
      // `mean` is the distance from the cluster `row` to the merged cluster. It is a weighted mean of the distances
      // from `row` to the two former clusters. `bounds[row]` is a lower bound of the distances from `row` to all other
      // clusters. So both distances are at least `bounds[row]`, and `mean` is too. The bound remains valid. Only a
      // rounding error can make `mean` lower than the bound. `mean` then becomes the new bound.
      if (this.distance(first, row) >= this.bounds[row]!) continue
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

function centroidOf({ sum, weight }: Cluster): Float32Array {
  return sum.map(value => value / weight)
}

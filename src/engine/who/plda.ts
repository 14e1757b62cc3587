// Probabilistic linear discriminant analysis (PLDA) with the arrays of pyannote's community-1 pipeline. The PLDA model
// transforms an embedding, so that embeddings of different voices are easier to tell apart.

/** The arrays of a PLDA model (probabilistic linear discriminant analysis). A matrix is stored row by row. */
export type PldaArrays = {
  /** The vector that is subtracted from an embedding before the multiplication by `projection`. */
  mean: Float64Array
  /** The vector that is subtracted from the product of an embedding and `projection`. */
  projectedMean: Float64Array
  /** The matrix that projects an embedding. It has one row for each value of the embedding. */
  projection: Float64Array
  /**
   * The mean of the projected embeddings on which the PLDA model was trained. It is subtracted from a projected
   * embedding of n values, after this embedding is scaled to the length √n.
   */
  centre: Float64Array
  /**
   * A projected embedding is multiplied by this matrix after the subtraction of `centre`. The embeddings of one voice
   * then have a variance of 1 in every dimension.
   */
  transform: Float64Array
  /** The variance between different voices in each dimension, after the multiplication by `transform`. */
  between: Float64Array
}

export class Plda {
  private readonly width: number

  constructor(private readonly arrays: PldaArrays) {
    this.width = arrays.between.length
  }

  get between(): Float64Array {
    return this.arrays.between
  }

  /**
   * Returns the projection of `embedding`, scaled to the Euclidean norm 1. `embedding` must be unscaled, as the
   * embedding model returned it.
   */
  project(embedding: Float32Array): Float32Array {
    const { mean, projectedMean, projection } = this.arrays
    if (embedding.length !== mean.length)
      throw new RangeError(`an embedding has ${embedding.length} values, the PLDA model needs ${mean.length}`)
    const level = unitOf(Float64Array.from(embedding, (value, at) => value - mean[at]!))
    const scale = Math.sqrt(mean.length)
    const sum = projectedMean.map(value => -value)
    for (let row = 0; row < level.length; row++) addRow(sum, projection, row, scale * level[row]!)
    return Float32Array.from(unitOf(sum))
  }

  /** Transforms a projected embedding. The embeddings of one voice then have a variance of 1 in every dimension. */
  features(projected: Float32Array): Float64Array {
    const { centre, transform } = this.arrays
    const scale = Math.sqrt(this.width)
    return Float64Array.from({ length: this.width }, (_, row) => {
      let sum = 0
      for (let at = 0; at < this.width; at++)
        sum += transform[row * this.width + at]! * (scale * projected[at]! - centre[at]!)
      return sum
    })
  }
}

/** Adds a row of a matrix, multiplied by `factor`, to `sum`. */
function addRow(sum: Float64Array, matrix: Float64Array, row: number, factor: number): void {
  const start = row * sum.length
  for (let at = 0; at < sum.length; at++) sum[at]! += factor * matrix[start + at]!
}

function unitOf(values: Float64Array): Float64Array {
  let energy = 0
  for (let at = 0; at < values.length; at++) energy += values[at]! * values[at]!
  const length = Math.sqrt(energy) || 1
  return values.map(value => value / length)
}

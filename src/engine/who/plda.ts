// Probabilistic linear discriminant analysis (PLDA) of the published embeddings, with the arrays of pyannote's
// community-1 pipeline. The projection removes most of the differences between embeddings of the same voice. In the
// projected space, the model gives the probability that embeddings come from one voice.

import { join } from 'node:path'
import { pldaFiles } from '../models/voices.ts'
import { readNpz } from './npz.ts'

/** The arrays of the model. A matrix is stored row by row. */
export type PldaArrays = {
  /** The mean of all embeddings, and the mean of the projected embeddings. */
  mean: Float64Array
  projectedMean: Float64Array
  /** The matrix of the projection. It has one row for each value of an embedding. */
  projection: Float64Array
  /** The mean and the transform after which the scatter of each voice is 1 in every dimension. */
  centre: Float64Array
  transform: Float64Array
  /** The variance between the voices, in each dimension after the transform. */
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

  /** Returns the projection of an embedding of any length. The result has the length 1. */
  project(embedding: Float32Array): Float32Array {
    const { mean, projectedMean, projection } = this.arrays
    if (embedding.length !== mean.length)
      throw new RangeError(`an embedding has ${embedding.length} values, the PLDA model needs ${mean.length}`)
    const level = unitOf(Float64Array.from(embedding, (value, at) => value - mean[at]!))
    const scale = Math.sqrt(mean.length)
    const sum = projectedMean.map(value => -value)
    for (const [row, value] of level.entries())
      for (let at = 0; at < this.width; at++) sum[at]! += scale * value * projection[row * this.width + at]!
    return Float32Array.from(unitOf(sum))
  }

  /** Transforms a projected embedding so that each voice has the scatter 1, and returns its values. */
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

export function openPlda(folder: string): Plda {
  const arrays = new Map(pldaFiles.flatMap(file => [...readNpz(join(folder, file))]))
  const get = (name: string, length?: number) => {
    const values = arrays.get(name)?.values
    if (!values || (length !== undefined && values.length !== length))
      throw new Error(`${folder} has no usable PLDA array ${name}: run steno models pull again`)
    return values
  }
  const between = get('psi')
  const mean = get('mean1')
  return new Plda({
    mean,
    projectedMean: get('mean2', between.length),
    projection: get('lda', mean.length * between.length),
    centre: get('mu', between.length),
    transform: get('tr', between.length ** 2),
    between,
  })
}

function unitOf(values: Float64Array): Float64Array {
  const length = Math.hypot(...values) || 1
  return values.map(value => value / length)
}

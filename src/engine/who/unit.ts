// Operations on vectors: the dot product, and the scaling of a vector to the length 1.

/** Returns the vector, scaled to the length 1. A vector of zeros stays as it is. */
export function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector)) || 1
  return vector.map(value => value / length)
}

/** Returns the vector, scaled to the length 1. Returns null if a value of the vector is not finite. */
export function finiteUnit(vector: Float32Array): Float32Array | null {
  return vector.every(Number.isFinite) ? unit(vector) : null
}

export function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let at = 0; at < one.length; at++) sum += one[at]! * other[at]!
  return sum
}

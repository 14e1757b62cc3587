// Finds the best token in the scores of one frame, and computes the probability of a token.

/**
 * The tokens that a decoder may choose. The value at index n is 1 if token n is permitted, and 0 if token n is not
 * permitted. Null permits every token.
 */
export type Permitted = Uint8Array | null

/** Returns the permitted token with the highest score. Token `n` of `count` tokens has the score `scores[from + n]`. */
export function bestOf(scores: Float32Array, from: number, count: number, permitted: Permitted): number {
  let best = -1
  for (let number = 0; number < count; number++) {
    if (permitted !== null && permitted[number] === 0) continue
    if (best < 0 || scores[from + number]! > scores[from + best]!) best = number
  }
  return best
}

/**
 * Returns the probability of one token: the softmax over the scores of the `count` tokens that begin at `scores[from]`.
 * `number` is the number of the token.
 */
export function probabilityOf(scores: Float32Array, from: number, count: number, number: number): number {
  const chosen = scores[from + number]!
  let sum = 0
  for (let index = from; index < from + count; index++) sum += Math.exp(scores[index]! - chosen)
  return 1 / sum
}

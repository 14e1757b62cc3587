// The best token of a frame, and the probability of a token.

/**
 * The tokens that a decoder may choose. The value at index n is 1 if token n is permitted, and otherwise 0. Null
 * permits every token.
 */
export type Permitted = Uint8Array | null

/**
 * Returns the permitted token with the highest score, or -1 if no token is permitted. The score of token `n` is
 * `scores[from + n]`, and `n` is less than `count`.
 */
export function bestOf(scores: Float32Array, from: number, count: number, permitted: Permitted): number {
  let best = -1
  for (let number = 0; number < count; number++) {
    if (permitted !== null && permitted[number] === 0) continue
    if (best < 0 || scores[from + number]! > scores[from + best]!) best = number
  }
  return best
}

/** Returns the probability of the token `number`: a softmax over the `count` scores that begin at `scores[from]`. */
export function probabilityOf(scores: Float32Array, from: number, count: number, number: number): number {
  const chosen = scores[from + number]!
  let sum = 0
  for (let index = from; index < from + count; index++) sum += Math.exp(scores[index]! - chosen)
  return 1 / sum
}

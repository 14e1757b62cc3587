// The scores of the tokens for one frame: the best token, and the probability of a token.

/**
 * The tokens that a decoder may choose, by the number of the token: 1 is permitted, 0 is not. Null permits every token.
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

/** Returns the softmax probability of the token `number` among `count` tokens (see `bestOf`). */
export function probabilityOf(scores: Float32Array, from: number, count: number, number: number): number {
  const chosen = scores[from + number]!
  let sum = 0
  for (let index = from; index < from + count; index++) sum += Math.exp(scores[index]! - chosen)
  return 1 / sum
}

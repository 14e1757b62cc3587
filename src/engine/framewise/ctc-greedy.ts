// Greedy decoding of the output of a CTC model.

import type { Scores } from './ctc-network.ts'
import { bestOf, type Permitted, probabilityOf } from './scores.ts'
import { isControl, type Tokens } from './tokens.ts'
import type { TimedToken } from './words.ts'

/**
 * Takes the best permitted token of each frame. Joins equal tokens of adjacent frames, and removes control tokens such
 * as the blank token.
 */
export function decodeCtc(
  { values, frames, count }: Scores,
  tokens: Tokens,
  permitted: Permitted,
): TimedToken[] {
  const decoded: TimedToken[] = []
  let before = 0
  for (let frame = 0; frame < frames; frame++) {
    const from = frame * count
    const number = bestOf(values, from, count, permitted)
    const last = decoded.at(-1)
    if (number === before && last) {
      if (last.to === frame) last.to = frame + 1
    } else if (number !== 0 && !isControl(tokens[number] ?? '')) {
      const probability = probabilityOf(values, from, count, number)
      decoded.push({ text: tokens[number] ?? '', from: frame, to: frame + 1, probability })
    }
    before = number
  }
  return decoded
}

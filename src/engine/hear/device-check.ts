// Checks the results of a decoder on a GPU when a model is opened. A fault of a driver or of a GPU kernel can make
// these results wrong.

import { windowMelFrames } from '../audio.ts'
import { type History, type Rules, rulesOf } from './allowed.ts'
import type { Facts } from './facts.ts'
import type { Decoder, EncodedWindow, Network } from './network.ts'
import { choose, type NextToken } from './rules.ts'

/** The largest difference of two log probabilities that 16-bit rounding can cause. */
const differenceMax = 0.1

/**
 * The number of decoding steps in the check. CUDA records its kernel calls in the first steps, and replays the recorded
 * calls in later steps. The check must include both kinds of steps.
 */
const steps = 6

/**
 * Decodes a few tokens in two ways, and throws if the log probabilities differ by more than `differenceMax`. The first
 * way goes token by token: each step reads the caches, and the GPU chooses the token. CUDA records the kernel calls
 * (calls of functions on the GPU) of a step, or replays recorded ones. The second way reads all earlier tokens in one
 * run, whose kernel calls are not recorded, and the CPU chooses the next token.
 */
export function checkDecoder({ encoder, decoder }: Network, facts: Facts): void {
  const picture = new Float32Array(facts.mels * windowMelFrames).map((_, at) => (at % 7 === 0 ? 0.5 : -0.5))
  const window = encoder.encode({ picture })
  try {
    const rules = rulesOf(facts, true)
    const history = { tokens: [facts.firstTimestamp], frames: windowMelFrames / 2 }
    const picks = picksInSteps(decoder, window, history, { rules, start: facts.start })
    for (const [step, { token, logProbability }] of picks.entries()) {
      const batch = decoder.begin([window], [facts.start, ...history.tokens])
      const whole = choose(rules, batch.logits(0), history)
      batch.close()
      const difference = Math.abs(whole.logProbability - logProbability)
      if (!(difference <= differenceMax))
        throw new Error(`the log probability of token ${step} differs by ${difference.toFixed(2)}`)
      history.tokens.push(token)
    }
  } finally {
    window.close()
  }
}

/**
 * Decodes a batch with two copies of `window`, token by token. Returns the tokens that the decoder chose for the second
 * copy. Only the second copy shows a fault in the offset of a row, because the first copy has the offset 0.
 */
function picksInSteps(
  decoder: Decoder,
  window: EncodedWindow,
  { tokens, frames }: History,
  { rules, start }: { rules: Rules; start: number },
): NextToken[] {
  const batch = decoder.begin([window, window], [start], { rules, frames: [frames, frames] })
  try {
    const picks: NextToken[] = []
    let last = tokens.at(-1) ?? start
    for (let step = 0; step < steps; step++) {
      batch.step([last, last])
      const picked = batch.pick?.(1)
      if (!picked) throw new Error('the decoder chooses no tokens')
      picks.push(picked)
      last = picked.token
    }
    return picks
  } finally {
    batch.close()
  }
}

// Checks the results of a decoder on a GPU when a model is opened. If a fault of a driver or of a GPU kernel makes
// these results wrong, this decoder is not used.

import { windowMelFrames } from '../audio.ts'
import { type History, type Rules, rulesOf } from './allowed.ts'
import type { Facts } from './facts.ts'
import type { Decoder, EncodedWindow, Network } from './network.ts'
import { choose, type NextToken } from './rules.ts'

/** The largest difference of two log probabilities that rounding to 16-bit floats can cause. */
const differenceMax = 0.1

/**
 * The number of decoding steps in the check. CUDA records the calls of its kernels in the first steps, and replays
 * these recorded calls in the later steps. So the check tests the recorded and the replayed calls.
 */
const steps = 6

/**
 * Decodes a few tokens in two ways, and throws if their log probabilities differ by more than `differenceMax`. The
 * first way decodes token by token: each step reads the caches, the GPU chooses the token, and CUDA replays recorded
 * calls. The second way decodes all tokens in one run that is not recorded, and the host chooses the token.
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
 * Decodes a batch that contains `window` twice, token by token. Returns the tokens that the decoder chose for the
 * second copy. A fault in the offset of a row shows only in this copy, because the first copy has the offset 0.
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

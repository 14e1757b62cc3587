// Checks a decoder for GPUs when it is loaded. A driver or a kernel with a fault must not cause wrong text.

import { windowMelFrames } from '../audio.ts'
import type { Facts } from './facts.ts'
import type { Decoder, EncodedWindow, Network } from './network.ts'
import { choose, type History, type NextToken, type Rules, rulesOf } from './rules.ts'

/** The largest difference of a log probability that rounding to 16-bit floats explains. */
const differenceMax = 0.1

/**
 * The number of decoding steps in the check. CUDA records its kernels in the first steps and replays them in the later
 * steps, and the check needs both.
 */
const steps = 6

/**
 * Throws if the decoder has other probabilities in steps than in one run over the same tokens. A step uses the caches in
 * place, the choice in the graph and the recorded kernels of CUDA; a run over a whole text uses none of these.
 */
export function checkDecoder({ encoder, decoder }: Network, facts: Facts): void {
  const picture = new Float32Array(facts.mels * windowMelFrames).map((_, at) => (at % 7 === 0 ? 0.5 : -0.5))
  const window = encoder.encode(picture)
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

/** Decodes the window in steps, as the second of two rows. */
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

// The result of one attempt to decode a window.

/** The result of one attempt to decode a window: the tokens, with their probabilities and their cross-attention. */
export type Hypothesis = {
  tokens: number[]
  /** The logarithm of the probability of each token. */
  logProbabilities: number[]
  /**
   * The cross-attention arrays (heads × frames), one for each decoding pass. The last pass predicts the end of the
   * text. The list is empty if attention was not requested.
   */
  attention: Float32Array[]
  frames: number
  /** The part of the window that must be decoded again. Null if no part of the window must be decoded again. */
  unfinished: Unfinished | null
  noSpeech: number
  /** The mean log probability of the tokens, including the end token. */
  logProbability: number
  temperature: number
  /**
   * `good`: the text passed the checks. `silence`: the window has no speech. `doubtful`: all attempts failed the
   * checks, and this is the text of the best attempt.
   */
  verdict: 'good' | 'silence' | 'doubtful'
}

/**
 * The part of a window that must be decoded again. The first `tokens` tokens of the text belong to the sound before
 * this part, and stay in the result. `frame` is the start of the part, in model frames (20 ms) of the window.
 */
export type Unfinished = { tokens: number; frame: number }

export function upTo(hypothesis: Hypothesis, unfinished: Unfinished | null): Hypothesis {
  const { tokens, logProbabilities, attention } = hypothesis
  const count = unfinished?.tokens ?? tokens.length
  return {
    ...hypothesis,
    tokens: tokens.slice(0, count),
    logProbabilities: logProbabilities.slice(0, count),
    attention: attention.slice(0, count + 1),
  }
}

/**
 * Returns the better of two attempts to decode a window. `before` has failed the checks. If `now` did not fail them,
 * returns `now`. Otherwise returns the attempt with the more probable text. An attempt without text is never better
 * than an attempt with text. Tokens from `firstTimestamp` on are timestamp tokens, and not text.
 */
export function better(before: Hypothesis, now: Hypothesis, firstTimestamp: number): Hypothesis {
  const hasText = ({ tokens }: Hypothesis) => tokens.some(token => token < firstTimestamp)
  if (now.verdict !== 'doubtful') return now
  if (!hasText(now)) return before
  return !hasText(before) || now.logProbability > before.logProbability ? now : before
}

export function emptyHypothesis(frames: number, noSpeech: number, temperature: number): Hypothesis {
  return {
    tokens: [],
    logProbabilities: [],
    attention: [],
    frames,
    unfinished: null,
    noSpeech,
    logProbability: 0,
    temperature,
    verdict: 'doubtful',
  }
}

// A hypothesis: the result of one attempt to decode a window (at most 30 s of sound). If the text fails the checks, the
// window is decoded again at a higher temperature.

/** The tokens of one attempt to decode a window, with their probabilities and their cross-attention. */
export type Hypothesis = {
  tokens: number[]
  /** The logarithm of the probability of each token. */
  logProbabilities: number[]
  /**
   * The cross-attention arrays (heads × frames): one for each token, and usually one for the token after the text, such
   * as the end token. Empty if attention was not requested.
   */
  attention: Float32Array[]
  frames: number
  /** The last part of the window, if this part must be decoded again. Otherwise null. */
  unfinished: Unfinished | null
  noSpeech: number
  /**
   * During decoding: the sum of the log probabilities of all tokens, including the end token. Afterwards: their mean.
   */
  logProbability: number
  temperature: number
  /** True if the text repeats itself, or has too many tokens for the length of its sound. */
  repeats: boolean
  /**
   * `good`: the text passed the checks. `silence`: the window has no speech. `doubtful`: all attempts failed the
   * checks, and the text is that of the best attempt.
   */
  verdict: 'good' | 'silence' | 'doubtful'
}

/**
 * The last part of a window, if this part must be decoded again. The part begins at the model frame `frame` (20 ms
 * each) of the window. The first `tokens` tokens of the text belong to the sound before this part, and stay in the
 * result.
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
 * The minimum mean log probability of a plausible text. A less probable text usually comes from an attempt with a high
 * temperature, and has hardly any correct words.
 */
const plausibleMin = -2

/**
 * Returns the better of two attempts to decode a window. The attempt `before` has failed the checks. Token ids from
 * `firstTimestamp` on are timestamp tokens.
 */
export function better(before: Hypothesis, now: Hypothesis, firstTimestamp: number): Hypothesis {
  const hasText = ({ tokens }: Hypothesis) => tokens.some(token => token < firstTimestamp)
  if (now.verdict !== 'doubtful') return now
  if (!hasText(now)) return before
  if (!hasText(before)) return now
  if (isPlausible(before) !== isPlausible(now)) return isPlausible(now) ? now : before
  return now.logProbability > before.logProbability ? now : before
}

/**
 * Returns true if the text may be partly correct. A text that repeats itself is never plausible, although its
 * probability is high. The model expects each repetition, so it gives the repetition a high probability, even if it is
 * wrong.
 */
function isPlausible({ repeats, logProbability }: Hypothesis): boolean {
  return !repeats && logProbability >= plausibleMin
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
    repeats: false,
    verdict: 'doubtful',
  }
}

// The result of one attempt to decode a window.

/** The result of one attempt to decode a window: the tokens, with their probabilities and their cross-attention. */
export type Hypothesis = {
  tokens: number[]
  /** The logarithm of the probability of each token. */
  logProbabilities: number[]
  /**
   * The cross-attention arrays (heads × frames): one for each token, and usually one more, for the token that follows
   * the text, such as the end token. The list is empty if attention was not requested.
   */
  attention: Float32Array[]
  frames: number
  /** The part of the window that must be decoded again. Null if no part of the window must be decoded again. */
  unfinished: Unfinished | null
  noSpeech: number
  /**
   * During decoding, the sum of the log probabilities of all decoded tokens, including the end token. After decoding,
   * their mean.
   */
  logProbability: number
  temperature: number
  /** True if the text repeats itself (see guard.ts). */
  repeats: boolean
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
 * The minimum mean log probability of a text that is better than a text that repeats itself. A less probable text has
 * hardly any correct words: it comes from the attempts with a high temperature, which choose tokens almost at random.
 */
const plausibleMin = -2

/**
 * Returns the better of two attempts to decode a window. `before` has failed the checks. If `now` did not fail them,
 * returns `now`. Otherwise, an attempt without text is never better than an attempt with text, and an implausible
 * text is never better than a plausible one. Of two other attempts, the one with the more probable text is better.
 * Tokens from `firstTimestamp` on are timestamp tokens, and not text.
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
 * Returns true if the text may be partly correct. A text that repeats itself may be very probable, because the model
 * expects each repetition. So its probability cannot be compared with that of another text.
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

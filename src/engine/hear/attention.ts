// Prepares the cross-attention of the alignment heads, from which word times are computed. The result has one value for
// each pair of a token and a frame in which the token may lie.

import { addMedians, reach } from './running-median.ts'
import type { Band, BandedRow } from './warp.ts'

/**
 * The band of one token (the frames in which the token may lie), and its attention. `attention` has heads × frames
 * values, for all frames of the window.
 */
export type AttendedBand = Band & { attention: Float32Array }

/**
 * Returns the normalised attention of each token in its band (the frames in which the token may lie). The steps are
 * those of openai/whisper. First, the values of each frame and head are standardised over all tokens. A frame to which
 * all tokens attend equally then has no influence. Next, a median filter smooths the values of each head. Last, the
 * mean over the heads is computed.
 */
export function attentionIn(bands: readonly AttendedBand[], frames: number): BandedRow[] {
  const { means, deviations } = spreadOf(bands.map(band => band.attention))
  const scaled = new Float32Array(frames)
  return bands.map(({ begin, end, attention }) => {
    const heads = attention.length / frames
    const values = new Float32Array(end - begin)
    const [first, last] = [Math.max(0, begin - reach), Math.min(frames, end + reach)]
    for (let head = 0; head < heads; head++) {
      for (let frame = first, at = head * frames + first; frame < last; frame++, at++)
        scaled[frame] = (attention[at]! - means[at]!) / deviations[at]!
      addMedians(scaled, values, heads, { begin, end })
    }
    return { begin, end, values }
  })
}

/**
 * Computes the mean and the standard deviation over all tokens, for each frame of each head. A deviation of 0 becomes
 * 1, because the caller divides by the deviation.
 */
function spreadOf(tokens: readonly Float32Array[]): { means: Float64Array; deviations: Float64Array } {
  const size = tokens[0]?.length ?? 0
  const [sums, squares] = [new Float64Array(size), new Float64Array(size)]
  for (const attention of tokens) {
    for (let at = 0; at < size; at++) {
      const value = attention[at]!
      sums[at]! += value
      squares[at]! += value * value
    }
  }
  const means = sums.map(sum => sum / tokens.length)
  const deviation = (at: number) =>
    Math.sqrt(Math.max(0, squares[at]! / tokens.length - means[at]! * means[at]!))
  return { means, deviations: means.map((_, at) => deviation(at) || 1) }
}

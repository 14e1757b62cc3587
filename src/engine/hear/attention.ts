// Normalises the cross-attention of the alignment heads. The result has one value for each token and frame.

import type { Band, BandedRow } from './warp.ts'

/**
 * A token in the input of `attentionIn`: the band of frames that its word may use, and the attention of the decoding
 * pass that predicts the token. The attention is heads × frames of the window.
 */
export type AttendedBand = Band & { attention: Float32Array }

const medianWidth = 7
const reach = (medianWidth - 1) / 2

/**
 * Returns the normalised attention of each token in the frames of its band, as openai/whisper computes it. First, the
 * values of each frame and head are standardised over all tokens, so that a frame to which all tokens attend has no
 * weight. Next, a median filter smooths the values of each head. Last, the mean over the heads is computed.
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

/** Computes the mean and the standard deviation over the tokens, for each frame of each head. */
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

/**
 * Applies a running median to the attention of one head, and adds the result to `values`, for the frames of the band.
 * At the ends of the window, the frames are mirrored.
 */
function addMedians(scaled: Float32Array, values: Float32Array, heads: number, { begin, end }: Band): void {
  const frames = scaled.length
  if (frames <= reach) {
    for (let frame = begin; frame < end; frame++) values[frame - begin]! += scaled[frame]! / heads
    return
  }
  // The seven values around a frame, sorted. At each step to the next frame, one value is removed and one is
  // inserted.
  const sorted = new Float32Array(medianWidth)
  const at = (frame: number) =>
    scaled[frame < 0 ? -frame : frame >= frames ? 2 * (frames - 1) - frame : frame]!
  for (let place = 0; place < medianWidth; place++) sorted[place] = at(begin + place - reach)
  sorted.sort()
  for (let frame = begin; ; frame++) {
    values[frame - begin]! += sorted[reach]! / heads
    if (frame >= end - 1) return
    const leaving = at(frame - reach)
    const entering = at(frame + reach + 1)
    let place = 0
    while (place < medianWidth - 1 && sorted[place] !== leaving) place++
    while (place > 0 && sorted[place - 1]! > entering) sorted[place] = sorted[--place]!
    while (place < medianWidth - 1 && sorted[place + 1]! < entering) sorted[place] = sorted[++place]!
    sorted[place] = entering
  }
}

// What the heads that follow the speech say of each token, made comparable: how much the token looks at each frame.

import type { Band } from './warp.ts'

const medianWidth = 7
const reach = (medianWidth - 1) / 2

/**
 * Each row's band of frames; a row holds heads × frames. As openai/whisper does it: each frame of a head with mean
 * and deviation over the tokens taken out, so that frames that all tokens look at say nothing, then smoothed, then
 * the mean of the heads.
 *
 * Logarithms against the root of a row's peak were better by four points with an early pocket model and worse by half
 * a point with a well trained one; what is known to work with published weights stays.
 */
export function attentionIn(
  rows: readonly Float32Array[],
  frames: number,
  bands: readonly Band[],
): Float32Array[] {
  const { means, deviations } = spreadOf(rows)
  const scaled = new Float32Array(frames)
  return rows.map((row, index) => {
    const band = bands[index]!
    const heads = row.length / frames
    const values = new Float32Array(band.end - band.begin)
    const [first, end] = [Math.max(0, band.begin - reach), Math.min(frames, band.end + reach)]
    for (let head = 0; head < heads; head++) {
      for (let frame = first, at = head * frames + first; frame < end; frame++, at++)
        scaled[frame] = (row[at]! - means[at]!) / deviations[at]!
      addMedians(scaled, values, heads, band)
    }
    return values
  })
}

/** Of each head's each frame over the tokens. */
function spreadOf(rows: readonly Float32Array[]): { means: Float64Array; deviations: Float64Array } {
  const size = rows[0]?.length ?? 0
  const [sums, squares] = [new Float64Array(size), new Float64Array(size)]
  for (const row of rows) {
    for (let at = 0; at < size; at++) {
      const value = row[at]!
      sums[at]! += value
      squares[at]! += value * value
    }
  }
  const means = sums.map(sum => sum / rows.length)
  const deviation = (at: number) =>
    Math.sqrt(Math.max(0, squares[at]! / rows.length - means[at]! * means[at]!))
  return { means, deviations: means.map((_, at) => deviation(at) || 1) }
}

/** Adds the running median of seven of one row's band to the values; the row is mirrored at its ends. */
function addMedians(row: Float32Array, values: Float32Array, heads: number, { begin, end }: Band): void {
  const frames = row.length
  if (frames <= reach) {
    for (let frame = begin; frame < end; frame++) values[frame - begin]! += row[frame]! / heads
    return
  }
  // The seven in order; each step takes one out and puts one in.
  const sorted = new Float32Array(medianWidth)
  const at = (frame: number) => row[frame < 0 ? -frame : frame >= frames ? 2 * (frames - 1) - frame : frame]!
  for (let place = 0; place < medianWidth; place++) sorted[place] = at(begin + place - reach)
  sorted.sort()
  for (let frame = begin; ; frame++) {
    values[frame - begin]! += sorted[reach]! / heads
    if (frame >= end - 1) return
    const gone = at(frame - reach)
    const come = at(frame + reach + 1)
    let place = 0
    while (place < medianWidth - 1 && sorted[place] !== gone) place++
    while (place > 0 && sorted[place - 1]! > come) sorted[place] = sorted[--place]!
    while (place < medianWidth - 1 && sorted[place + 1]! < come) sorted[place] = sorted[++place]!
    sorted[place] = come
  }
}

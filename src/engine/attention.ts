// What the heads that follow the speech say of each token, made comparable: how much the token looks at each frame.

import type { Band } from './warp.ts'

const medianWidth = 7
/** A row's peak is what it passes in this many frames: one frame alone may be a spike. */
const peakFrames = 6
/** Of the root of the peak: what lies below tells nothing more, and the median of a few zeros stays finite. */
const floor = 0.03

/**
 * Each row's band of frames; a row holds heads × frames. In logarithms, it is a question of which token looks there
 * more than the others, however few of them do. A long word spreads its look and a short one does not, so a row is
 * set against its peak; against its root only, or a row that looks everywhere would win everywhere.
 *
 * openai/whisper puts mean and deviation of each frame on one scale instead, which gives silence as much to say as
 * speech: with the pocket model 81 % of words that stand between right ones were within 0.2 s, with this 85 %.
 */
export function attentionIn(
  rows: readonly Float32Array[],
  frames: number,
  bands: readonly Band[],
): Float32Array[] {
  const scaled = new Float32Array(frames)
  return rows.map((row, index) => {
    const band = bands[index]!
    const heads = row.length / frames
    const values = new Float32Array(band.end - band.begin)
    for (let head = 0; head < heads; head++) {
      scale(row.subarray(head * frames, (head + 1) * frames), scaled)
      addMedians(scaled, values, heads, band)
    }
    return values
  })
}

function scale(row: Float32Array, scaled: Float32Array): void {
  let sum = 0
  for (let frame = 0; frame < row.length; frame++) sum += row[frame]!
  const peak = peakOf(row)
  // The window's silent rest is cut off; what is left is a distribution again.
  const root = Math.sqrt(peak * sum) || 1
  for (let frame = 0; frame < row.length; frame++)
    scaled[frame] = Math.log(Math.min(row[frame]!, peak) / root + floor)
}

function peakOf(row: Float32Array): number {
  const most = new Float32Array(Math.min(peakFrames, row.length))
  for (const value of row) {
    if (value <= most[0]!) continue
    let place = 0
    while (place < most.length - 1 && most[place + 1]! < value) most[place] = most[++place]!
    most[place] = value
  }
  return most[0]!
}

/** Adds the running median of seven of one row's band to the values; the row is mirrored at its ends. */
function addMedians(row: Float32Array, values: Float32Array, heads: number, { begin, end }: Band): void {
  const frames = row.length
  const reach = (medianWidth - 1) / 2
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

// Smooths the cross-attention of one attention head with a running median: each value becomes the median of the values
// in the frames around it.

import type { Band } from './warp.ts'

const medianWidth = 7
export const reach = (medianWidth - 1) / 2

/**
 * Computes the running median of `scaled` for the frames from `begin` to `end`, divides it by `heads`, and adds it to
 * `values`. After one call for each of the `heads` attention heads, `values` has the mean of their medians. `scaled` is
 * the cross-attention of one head for one token, with a value for each frame of the window.
 */
export function addMedians(
  scaled: Float32Array,
  values: Float32Array,
  heads: number,
  { begin, end }: Band,
): void {
  const frames = scaled.length
  // A window of three frames or fewer is too short for the mirroring below, and is not smoothed.
  if (frames <= reach) {
    for (let frame = begin; frame < end; frame++) values[frame - begin]! += scaled[frame]! / heads
    return
  }
  // The seven values around the current frame. For the next frame, one value is removed and one is inserted.
  const sorted = new Float32Array(medianWidth)
  // The median at the start or end of the window needs values outside the window. The values inside are mirrored there.
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

// A binary search.

/** Returns the index of the last value that is at most `value`. Returns -1 if there is none. */
export function lastAtMost(sorted: Float64Array | Uint32Array, value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}

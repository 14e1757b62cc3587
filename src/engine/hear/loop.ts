// Finds loops: tokens that the model repeats.

/**
 * Finds a sequence of 1 to 24 tokens that occurs at least `times` times in a row, at the end of the tokens. A single
 * token must occur at least ten times, and a sequence of two tokens at least five times, even if `times` is smaller.
 * Returns the number of tokens up to the end of the first occurrence, or null if there is no loop.
 */
export function loopStart(tokens: readonly number[], times = 4): number | null {
  const length = tokens.length
  for (let period = 1; period <= 24; period++) {
    // People do say one word four times ("no, no, no, no"). So a single token must occur at least ten times, and a
    // sequence of two tokens at least five times.
    const rounds = Math.max(times, Math.ceil(10 / period))
    if (period * rounds > length) continue
    let same = 0
    while (same < length - period && tokens[length - 1 - same] === tokens[length - 1 - same - period]) same++
    if (same >= period * (rounds - 1)) return length - same
  }
  return null
}

// Finds loops: tokens that the model repeats.

/**
 * Finds a sequence of 1 to 24 tokens that is repeated at the end of the tokens. It must occur at least `times` times,
 * and more often if it has only one or two tokens. Returns the number of tokens up to the end of its first occurrence.
 * Returns null if there is no loop.
 */
export function loopStart(tokens: readonly number[], times = 4): number | null {
  const length = tokens.length
  for (let period = 1; period <= 24; period++) {
    // A sequence counts as a loop if it occurs `times` times, by default four times. But people do say one word four
    // times ("no, no, no, no"). So a single token counts as a loop only if it occurs ten times, and a sequence of two
    // tokens only if it occurs five times.
    const rounds = Math.max(times, Math.ceil(10 / period))
    if (period * rounds > length) continue
    let same = 0
    while (same < length - period && tokens[length - 1 - same] === tokens[length - 1 - same - period]) same++
    if (same >= period * (rounds - 1)) return length - same
  }
  return null
}

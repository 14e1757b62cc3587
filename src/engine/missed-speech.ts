// The warning about speech for which no text was found.

/**
 * The warning about speech without text lists at most this many positions in the recording. If there are more
 * positions, the warning says only how many more.
 */
const placesShownMax = 5

/**
 * Returns a list with one warning that names the positions of the speech without text. Returns an empty list if all
 * speech has text.
 */
export function warningOfMissed(seconds: readonly number[]): string[] {
  if (seconds.length === 0) return []
  const places = seconds.slice(0, placesShownMax).map(second => `${second} s`)
  const others = seconds.length - places.length
  const more = others > 0 ? ` and ${others} more` : ''
  return [`Speech was heard but not understood at ${places.join(', ')}${more}.`]
}

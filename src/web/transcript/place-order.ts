// Moves from one place in the text, such as a search match, to the next place in a list. The list may have changed
// since the last move: a place that the person has corrected is no longer in the list.

import type { Place } from './document.ts'

/** The start of a place in the text: the index of the utterance, and the position in the text of the utterance. */
export type Spot = Pick<Place, 'utterance' | 'from'>

export function isAt(place: Spot | undefined, spot: Spot): boolean {
  return place?.utterance === spot.utterance && place.from === spot.from
}

/**
 * Returns the index of the first place that begins at the spot or after it. A place is a span of text, such as a search
 * match, and a spot is a position in the text. If no place begins there, returns 0: after the last place of the list
 * comes the first one.
 */
export function indexFrom(places: readonly Place[], spot: Spot): number {
  return Math.max(
    0,
    places.findIndex(
      ({ utterance, from }) =>
        utterance > spot.utterance || (utterance === spot.utterance && from >= spot.from),
    ),
  )
}

/**
 * Returns the index of the first place that begins after the spot (`by` is 1), or of the last place that begins before
 * the spot (`by` is -1). A place is a span of text, such as a search match, and a spot is a position in the text. After
 * the last place of the list comes the first one. The list must not be empty.
 */
export function indexBeside(places: readonly Place[], spot: Spot, by: 1 | -1): number {
  const next = indexFrom(places, spot)
  if (by < 0) return (next - 1 + places.length) % places.length
  return isAt(places[next], spot) ? (next + 1) % places.length : next
}

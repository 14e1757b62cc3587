// Marks the doubtful words of a transcript: the words with a low confidence.

import { signal } from '@preact/signals'
import type { Place } from './document.ts'
import type { TranscriptView } from './view.ts'

/** A word is marked as doubtful if its confidence is below this value. A confidence is from 0 to 1. */
const doubtBelow = 0.5

export class DoubtMarks {
  readonly isShown = signal(false)
  /** The places of the words with a low confidence. Empty while these words are not marked on the page. */
  readonly places = signal<Place[]>([])

  /** Marks the doubtful words if `isShown` is true. Otherwise removes the marks. */
  mark(view: TranscriptView | null): void {
    this.places.value = this.isShown.value && view ? doubtfulPlaces(view) : []
    view?.light('doubt', this.places.value)
  }
}

function doubtfulPlaces(view: TranscriptView): Place[] {
  const { confidence } = view.index
  return [...confidence.keys()]
    .filter(word => (confidence[word] ?? 1) < doubtBelow)
    .flatMap(word => view.placeOf(word) ?? [])
}

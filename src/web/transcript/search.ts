// The state of the search in a transcript: the searched text, the found places, and the shown place.

import { useComputed, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { tell } from '../parts/toast.tsx'
import { words } from '../words.ts'
import type { Place } from './document.ts'
import type { Step } from './edit-history.ts'
import type { Edits } from './edits.ts'
import { endOfReplacement, patternOf, placesOf, replaced } from './matches.ts'
import { indexBeside, indexFrom, type Spot } from './place-order.ts'
import type { Studio } from './studio.ts'

/** The start of the transcript. */
const start: Spot = { utterance: 0, from: 0 }

export type Search = ReturnType<typeof useSearch>

export function useSearch(studio: Studio) {
  const { view, edits } = studio
  const { utterances } = studio.result
  const asked = useSignal('')
  const isWhole = useSignal(false)
  const isCased = useSignal(false)
  const pattern = useComputed(() =>
    patternOf(asked.value, { isWhole: isWhole.value, isCased: isCased.value }),
  )
  const places = useComputed(() => {
    edits.saving.textChanges.value
    return pattern.value ? placesOf(utterances, pattern.value) : []
  })
  /** The start of the match that was shown last, or the end of the last replacement. */
  const spot = useSignal<Spot>(start)
  /** The index, in `places`, of the match that is shown now. */
  const at = useComputed(() => indexFrom(places.value, spot.value))

  const show = (next: number) => {
    spot.value = places.value[next] ?? start
    studio.showPlace(places.value[next])
  }
  const step = (by: 1 | -1) => {
    if (places.value.length > 0) show(indexBeside(places.value, spot.value, by))
  }
  const replace = (which: Place[], replacement: string) => {
    const [first] = which
    if (!first) return
    const end = endOfReplacement(utterances, first, replacement)
    const step = edits.replace(replaced(utterances, which, replacement))
    spot.value = end
    show(at.value)
    tellReplaced(edits, step, which.length)
  }

  // If the found places change, the page does not scroll: the person may be typing elsewhere in the text.
  useEffect(() => {
    view?.light('found', places.value)
    view?.light('current', places.value.slice(at.value, at.value + 1))
  }, [places.value])
  useEffect(() => show(0), [pattern.value])
  useEffect(
    () => () => {
      view?.unlight('found')
      view?.unlight('current')
    },
    [],
  )
  return { asked, isWhole, isCased, places, at, step, replace }
}

/**
 * Shows a message with the button "Undo". The message disappears early if the replacement is no longer the last step,
 * because the button would then undo another step.
 */
function tellReplaced(edits: Edits, step: Step, count: number): void {
  const close = tell(words.find.replaced(count), () => edits.undo())
  const stop = edits.history.last.subscribe(last => {
    if (last === step) return
    close()
    stop()
  })
}

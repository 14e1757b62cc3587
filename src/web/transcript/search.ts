// The state of the search in a transcript: what is searched for, the places that are found, and the shown place.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { tell } from '../parts/toast.tsx'
import { words } from '../words.ts'
import type { Place } from './document.ts'
import { patternOf, placesOf, replaced } from './matches.ts'
import type { Studio } from './studio.ts'

export type Search = ReturnType<typeof useSearch>

export function useSearch(studio: Studio) {
  const { view, edits } = studio
  const { utterances } = studio.result
  const asked = useSignal('')
  const isWhole = useSignal(false)
  const isCased = useSignal(false)
  const places = useSignal<Place[]>([])
  /** The index, in `places`, of the match that is shown now. */
  const at = useSignal(0)
  const pattern = patternOf(asked.value, { isWhole: isWhole.value, isCased: isCased.value })

  const find = () => {
    places.value = pattern ? placesOf(utterances, pattern) : []
    view?.light('found', places.value)
    show(Math.min(at.value, Math.max(0, places.value.length - 1)))
  }
  const show = (next: number) => {
    at.value = next
    studio.showPlace(places.value[next])
  }
  const step = (by: number) => {
    const count = places.value.length
    if (count > 0) show((at.value + by + count) % count)
  }
  const replace = (chosen: Place[], replacement: string) => {
    if (!pattern || chosen.length === 0) return
    edits.replace(replaced(utterances, chosen, replacement))
    view?.reindex()
    find()
    tell(words.find.replaced(chosen.length), () => {
      edits.undo()
      view?.reindex()
      find()
    })
  }

  useEffect(() => {
    at.value = 0
    find()
  }, [asked.value, isWhole.value, isCased.value])
  useEffect(
    () => () => {
      view?.unlight('found')
      view?.unlight('current')
    },
    [],
  )
  return { asked, isWhole, isCased, places, at, step, replace }
}

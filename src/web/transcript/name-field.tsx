// The text field in which a person changes the name of a speaker.

import { useComputed } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { isComposing } from '../base/composing.ts'
import { tell, tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'
import type { Studio } from './studio.ts'

const text = words.speakers

export function NameField({ studio, speaker }: { studio: Studio; speaker: string }) {
  const { edits } = studio
  const field = useRef<HTMLInputElement>(null)
  // A new name of another speaker must not render the field again, because Preact would then replace the typed text. A
  // computed value renders the field only if its result for this speaker has changed.
  const shown = useComputed(() => studio.nameOf(speaker)).value
  const isAsked = useComputed(() => studio.renaming.value === speaker).value
  // A layout effect runs before the browser draws the page, so the next pressed key already goes to the field.
  useLayoutEffect(() => {
    if (!isAsked) return
    field.current?.select()
    studio.renaming.value = null
  }, [isAsked])
  const save = (input: HTMLInputElement) => {
    const name = input.value.trim()
    input.value = name || shown
    if (name === '' || name === shown) return
    const before = edits.nameOf(speaker)
    edits.rename(speaker, name).then(
      () => tell(text.renamed(name), () => edits.rename(speaker, before).catch(tellFault)),
      fault => {
        input.value = shown
        tellFault(fault)
      },
    )
  }
  return (
    <input
      ref={field}
      class="name"
      dir="auto"
      aria-label={text.nameOf(shown)}
      title={`${shown} – ${text.rename}`}
      maxLength={80}
      value={shown}
      onMouseDown={event => {
        // The first click into the field selects the whole name, so that typing replaces the name. Later clicks only
        // set the caret.
        if (document.activeElement === event.currentTarget) return
        event.preventDefault()
        event.currentTarget.focus()
        event.currentTarget.select()
      }}
      onBlur={event => save(event.currentTarget)}
      onKeyDown={event => {
        if (isComposing(event)) return
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') {
          event.currentTarget.value = shown
          event.currentTarget.blur()
        }
      }}
    />
  )
}

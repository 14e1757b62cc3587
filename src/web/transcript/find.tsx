// The bar that searches in a transcript and replaces text.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Check } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { tell } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { patternOf, placesOf, replaced } from './matches.ts'
import { Steps } from './steps.tsx'
import type { Studio } from './studio.ts'
import type { Place } from './view.ts'

const text = words.find

export function FindBar({ studio }: { studio: Studio }) {
  return studio.isFinding.value ? <OpenFindBar studio={studio} /> : null
}

function OpenFindBar({ studio }: { studio: Studio }) {
  const { view, edits } = studio
  const field = useRef<HTMLInputElement>(null)
  const asked = useSignal('')
  const replacement = useSignal('')
  const isWhole = useSignal(false)
  const isCased = useSignal(false)
  const places = useSignal<Place[]>([])
  const at = useSignal(0)
  const pattern = patternOf(asked.value, { isWhole: isWhole.value, isCased: isCased.value })

  const find = () => {
    places.value = pattern ? placesOf(studio.result.utterances, pattern) : []
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
  const replace = (chosen: Place[]) => {
    if (!pattern || chosen.length === 0) return
    edits.replace(replaced(studio.result.utterances, chosen, replacement.value))
    view?.reindex()
    find()
    tell(text.replaced(chosen.length), () => {
      edits.undo()
      view?.reindex()
      find()
    })
  }

  useEffect(() => field.current?.focus(), [])
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

  return (
    <search class="find" aria-label={text.title}>
      <form
        onSubmit={event => event.preventDefault()}
        onKeyDown={event => {
          if (event.key === 'Escape') studio.setFinding(false)
        }}
      >
        <div class="line">
          <input
            ref={field}
            type="search"
            aria-label={text.field}
            placeholder={text.field}
            value={asked.value}
            onInput={event => (asked.value = event.currentTarget.value)}
            onKeyDown={event => {
              if (event.key === 'Enter') step(event.shiftKey ? -1 : 1)
            }}
          />
          <span class="hint count" role="status">
            {asked.value === ''
              ? ''
              : places.value.length === 0
                ? text.none
                : words.steps.count(at.value + 1, places.value.length)}
          </span>
          <Steps count={places.value.length} onStep={step} />
        </div>
        <div class="line">
          <Check label={text.whole} of={isWhole} />
          <Check label={text.cased} of={isCased} />
        </div>
        <div class="line">
          <input
            aria-label={text.replacement}
            placeholder={text.replacement}
            value={replacement.value}
            onInput={event => (replacement.value = event.currentTarget.value)}
          />
          <button
            type="button"
            disabled={places.value.length === 0}
            onClick={() => replace(places.value.slice(at.value, at.value + 1))}
          >
            {text.replace}
          </button>
          <button type="button" disabled={places.value.length === 0} onClick={() => replace(places.value)}>
            {text.replaceAll}
          </button>
        </div>
        <button
          type="button"
          class="quiet icon"
          aria-label={words.close}
          onClick={() => studio.setFinding(false)}
        >
          <Icon name="close" />
        </button>
      </form>
    </search>
  )
}

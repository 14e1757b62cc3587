// The bar that searches in a transcript and replaces text.

import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { isComposing } from '../base/composing.ts'
import { Check } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { useReturnedFocus } from '../parts/returned-focus.ts'
import { words } from '../words.ts'
import { type Search, useSearch } from './search.ts'
import { Steps } from './steps.tsx'
import type { Studio } from './studio.ts'

const text = words.find

export function FindBar({ studio }: { studio: Studio }) {
  return studio.isFinding.value ? <OpenFindBar studio={studio} /> : null
}

function OpenFindBar({ studio }: { studio: Studio }) {
  const search = useSearch(studio)
  const box = useReturnedFocus<HTMLElement>()
  return (
    <search ref={box} class="find" aria-label={text.title}>
      <form
        onSubmit={event => event.preventDefault()}
        onKeyDown={event => {
          if (event.key !== 'Escape' || isComposing(event)) return
          studio.editPlace(search.places.value[search.at.value])
          studio.setFinding(false)
        }}
      >
        <AskedField search={search} finds={studio.finds.value} />
        <div class="line">
          <Check label={text.whole} of={search.isWhole} />
          <Check label={text.cased} of={search.isCased} />
        </div>
        <Replacement search={search} />
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

function AskedField({ search: { asked, places, at, step }, finds }: { search: Search; finds: number }) {
  const field = useRef<HTMLInputElement>(null)
  // A layout effect runs before the browser draws the bar, so quickly typed text already goes to the field.
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [finds])
  const count = places.value.length
  return (
    <div class="line">
      <input
        ref={field}
        type="search"
        aria-label={text.field}
        placeholder={text.field}
        value={asked.value}
        onInput={event => (asked.value = event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Enter' && !isComposing(event)) step(event.shiftKey ? -1 : 1)
        }}
      />
      <span class="hint count" role="status">
        {asked.value === '' ? '' : count === 0 ? text.none : words.steps.count(at.value + 1, count)}
      </span>
      <Steps count={count} onStep={step} />
    </div>
  )
}

function Replacement({ search: { places, at, replace } }: { search: Search }) {
  const replacement = useSignal('')
  const isEmpty = places.value.length === 0
  const found = () => places.value.slice(at.value, at.value + 1)
  // With `disabled`, a button would lose the focus after it has replaced the last match.
  return (
    <div class="line">
      <input
        aria-label={text.replacement}
        placeholder={text.replacement}
        value={replacement.value}
        onInput={event => (replacement.value = event.currentTarget.value)}
      />
      <button type="button" aria-disabled={isEmpty} onClick={() => replace(found(), replacement.value)}>
        {text.replace}
      </button>
      <button type="button" aria-disabled={isEmpty} onClick={() => replace(places.value, replacement.value)}>
        {text.replaceAll}
      </button>
    </div>
  )
}

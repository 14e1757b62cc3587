// The bar that searches in a transcript and replaces text.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Check } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { tell } from '../parts/toast.tsx'
import { words } from '../words.ts'
import type { Utterance } from './document.ts'
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

type Exactness = { isWhole: boolean; isCased: boolean }

/**
 * Returns a pattern that finds the text `asked`, or null if `asked` is empty. If `isWhole` is true, it finds only whole
 * words. If `isCased` is true, upper-case and lower-case letters are different.
 */
function patternOf(asked: string, { isWhole, isCased }: Exactness): RegExp | null {
  if (asked === '') return null
  const escaped = asked.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  const pattern = isWhole ? `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])` : escaped
  return new RegExp(pattern, isCased ? 'gu' : 'giu')
}

export function placesOf(utterances: readonly Utterance[], pattern: RegExp): Place[] {
  return utterances.flatMap(({ text }, utterance) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
      utterance,
      from: index,
      to: index + found.length,
    })),
  )
}

/** Replaces the found text at each place. Returns the new text of each utterance that has changed. */
function replaced(
  utterances: readonly Utterance[],
  places: readonly Place[],
  replacement: string,
): { utterance: number; text: string }[] {
  const texts = new Map<number, string>()
  // A replacement moves the text behind it. So the last place is replaced first, and the positions of the earlier
  // places stay correct.
  for (const { utterance, from, to } of places.toReversed()) {
    const before = texts.get(utterance) ?? utterances[utterance]?.text ?? ''
    texts.set(utterance, before.slice(0, from) + replacement + before.slice(to))
  }
  return [...texts].map(([utterance, text]) => ({ utterance, text: text.replace(/\s+/g, ' ').trim() }))
}

// The list of the speakers. A person can change their names in this list. A bar shows how much of the time each speaker
// talks.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { showDuration, showPercent } from '../base/format.ts'
import { Icon } from '../parts/icon.tsx'
import { tell, tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { talkTimes } from './document.ts'
import type { Studio } from './studio.ts'

const text = words.speakers

/** The number of speakers that the list shows until the person opens the whole list. */
const shownAtOnce = 8

export function Speakers({ studio }: { studio: Studio }) {
  const times = talkTimes(studio.result.utterances)
  const showsAll = useSignal(times.length <= shownAtOnce)
  if (times.length === 0) return null
  const sum = times.reduce((total, { seconds }) => total + seconds, 0)
  const rows = times.map(({ speaker, seconds }) => ({
    speaker,
    seconds,
    share: sum === 0 ? 0 : seconds / sum,
    colour: studio.colourOf(speaker),
  }))
  const asked = studio.renaming.value
  const shown = showsAll.value ? rows : rows.slice(0, shownAtOnce)
  useEffect(() => {
    if (rows.findIndex(({ speaker }) => speaker === asked) >= shownAtOnce) showsAll.value = true
  }, [asked])
  return (
    <section class="speakers" aria-labelledby="speakers-title">
      <h2 id="speakers-title">{text.title(times.length)}</h2>
      <ShareBar rows={rows} />
      <ul>
        {shown.map(({ speaker, seconds, share, colour }) => (
          <li key={speaker} data-speaker={colour}>
            <NameField studio={studio} speaker={speaker} />
            <Icon name="pen" />
            <span class="hint">{text.share(showPercent(share), showDuration(seconds))}</span>
          </li>
        ))}
      </ul>
      {!showsAll.value && (
        <button type="button" class="quiet link" onClick={() => (showsAll.value = true)}>
          {text.showAll(times.length)}
        </button>
      )}
    </section>
  )
}

/**
 * A bar that is divided in proportion to the talk times of the speakers. Screen readers ignore the bar, because the
 * list contains the same figures.
 */
function ShareBar({ rows }: { rows: { speaker: string; share: number; colour: number }[] }) {
  let x = 0
  return (
    <svg class="shares" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      {rows.map(({ speaker, share, colour }) => {
        const from = x
        x += share * 100
        return (
          <rect
            key={speaker}
            data-speaker={colour}
            x={from}
            y={0}
            width={Math.max(0, share * 100 - 0.4)}
            height={4}
          />
        )
      })}
    </svg>
  )
}

function NameField({ studio, speaker }: { studio: Studio; speaker: string }) {
  const { edits } = studio
  const field = useRef<HTMLInputElement>(null)
  const shown = studio.nameOf(speaker)
  const isAsked = studio.renaming.value === speaker
  useEffect(() => {
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
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') {
          event.currentTarget.value = shown
          event.currentTarget.blur()
        }
      }}
    />
  )
}

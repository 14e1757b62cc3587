// The list of the speakers, in which a person can change their names. A bar shows how much of the time each speaker
// talks.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { showDuration, showPercent } from '../base/format.ts'
import { Icon } from '../parts/icon.tsx'
import { showMore } from '../parts/more.tsx'
import { words } from '../words.ts'
import { NameField } from './name-field.tsx'
import type { Studio } from './studio.ts'
import { talkTimes } from './turns.ts'

const text = words.speakers

/** The number of speakers that the list shows until the whole list is opened. */
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
        <button
          type="button"
          class="quiet link"
          onClick={event => showMore(event.currentTarget, () => (showsAll.value = true))}
        >
          {text.showAll(times.length)}
        </button>
      )}
    </section>
  )
}

/**
 * A bar that shows the share of each speaker in the talk time. Screen readers ignore it, because the list contains the
 * same figures.
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

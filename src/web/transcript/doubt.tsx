// The bar for doubtful words, which have a low confidence and are marked on the page. Its buttons move from one
// doubtful word to the next.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { useReturnedFocus } from '../parts/returned-focus.ts'
import { words } from '../words.ts'
import { indexBeside, isAt, type Spot } from './place-order.ts'
import { Steps } from './steps.tsx'
import type { Studio } from './studio.ts'

const text = words.doubt

export function DoubtBar({ studio }: { studio: Studio }) {
  return studio.doubt.isShown.value ? <OpenDoubtBar studio={studio} /> : null
}

function OpenDoubtBar({ studio }: { studio: Studio }) {
  /**
   * The start of the doubtful word to which the buttons "previous" and "next" of this bar last moved. Null until the
   * person presses one of these buttons.
   */
  const spot = useSignal<Spot | null>(null)
  const places = studio.doubt.places.value
  const count = places.length
  const shown = spot.value
  const at = shown === null ? -1 : places.findIndex(place => isAt(place, shown))
  const box = useReturnedFocus<HTMLElement>()
  useEffect(() => () => studio.view?.unlight('current'), [])
  const step = (by: 1 | -1) => {
    const next = shown === null ? (by > 0 ? 0 : count - 1) : indexBeside(places, shown, by)
    spot.value = places[next] ?? null
    studio.showPlace(places[next])
  }
  return (
    <section ref={box} class="line doubt" aria-label={text.title}>
      <span role="status">
        {count > 0 && <span class="sample">{text.sample}</span>} {text.legend(count)}
      </span>
      <div class="line">
        <span class="hint count">{at >= 0 ? words.steps.count(at + 1, count) : ''}</span>
        <Steps count={count} onStep={step} />
      </div>
      <button
        type="button"
        class="quiet icon"
        aria-label={words.close}
        onClick={() => studio.setDoubt(false)}
      >
        <Icon name="close" />
      </button>
    </section>
  )
}

// The bar for doubtful words, which have a low confidence and are marked on the page. Its buttons move from one
// doubtful word to the next.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { useReturnedFocus } from '../parts/returned-focus.ts'
import { words } from '../words.ts'
import { Steps } from './steps.tsx'
import type { Studio } from './studio.ts'

const text = words.doubt

export function DoubtBar({ studio }: { studio: Studio }) {
  return studio.doubt.isShown.value ? <OpenDoubtBar studio={studio} /> : null
}

function OpenDoubtBar({ studio }: { studio: Studio }) {
  /** The index of the shown doubtful word, or -1 until the person presses one of the buttons. */
  const at = useSignal(-1)
  const places = studio.doubt.places.value
  const count = places.length
  const box = useReturnedFocus<HTMLElement>()
  useEffect(() => () => studio.view?.unlight('current'), [])
  const step = (by: 1 | -1) => {
    at.value = at.value < 0 && by < 0 ? count - 1 : (at.value + by + count) % count
    studio.showPlace(places[at.value])
  }
  return (
    <section ref={box} class="line doubt" aria-label={text.title}>
      <span role="status">
        {count > 0 && <span class="sample">{text.sample}</span>} {text.legend(count)}
      </span>
      <div class="line">
        <span class="hint count">
          {at.value >= 0 && count > 0 ? words.steps.count(at.value + 1, count) : ''}
        </span>
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

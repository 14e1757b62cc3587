import { Icon } from '../parts/icon.tsx'
import { words } from '../words.ts'

type StepsProps = { count: number; onStep: (by: 1 | -1) => void }

/**
 * Two buttons: one for the previous and one for the next place in the text, such as a search result. `count` is the
 * number of places.
 */
export function Steps({ count, onStep }: StepsProps) {
  const { previous, next } = words.steps
  return (
    <>
      <button
        type="button"
        class="quiet icon"
        aria-label={previous}
        disabled={count === 0}
        onClick={() => onStep(-1)}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        class="quiet icon"
        aria-label={next}
        disabled={count === 0}
        onClick={() => onStep(1)}
      >
        <Icon name="down" />
      </button>
    </>
  )
}

import { Icon } from '../parts/icon.tsx'
import { words } from '../words.ts'

type StepsProps = { count: number; onStep: (by: 1 | -1) => void }

/**
 * Two buttons: one for the previous and one for the next place in the text, such as a search result. `count` is the
 * number of places.
 */
export function Steps({ count, onStep }: StepsProps) {
  const { previous, next } = words.steps
  // The buttons have `aria-disabled`, because a button with `disabled` loses the focus. This would happen when `count`
  // becomes 0, for example when a person corrects the last doubtful word.
  const step = (by: 1 | -1) => {
    if (count > 0) onStep(by)
  }
  return (
    <>
      <button
        type="button"
        class="quiet icon"
        aria-label={previous}
        aria-disabled={count === 0}
        onClick={() => step(-1)}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        class="quiet icon"
        aria-label={next}
        aria-disabled={count === 0}
        onClick={() => step(1)}
      >
        <Icon name="down" />
      </button>
    </>
  )
}

// The button below a list that shows further entries of the list.

import { words } from '../words.ts'

/**
 * Calls `show`, which adds entries to the list before the button. Then moves the focus from the button to the first
 * added entry: the button has disappeared, or is below all added entries.
 */
export async function showMore(button: HTMLElement, show: () => unknown): Promise<void> {
  const list = (button.closest('.more') ?? button).previousElementSibling
  const entries = () => [...(list?.querySelectorAll<HTMLElement>('li, tbody tr') ?? [])]
  const count = entries().length
  await show()
  const added = entries()[count]
  const isLeft = document.activeElement !== button && document.activeElement !== document.body
  if (added && !isLeft) focusEntry(added)
}

function focusEntry(entry: HTMLElement): void {
  const control = entry.querySelector<HTMLElement>('a, button, input')
  if (!control) entry.tabIndex = -1
  const target = control ?? entry
  target.focus({ preventScroll: true })
}

export function More({ onMore }: { onMore: () => unknown }) {
  return (
    <p class="more">
      <button type="button" onClick={event => showMore(event.currentTarget, onMore)}>
        {words.jobs.more}
      </button>
    </p>
  )
}

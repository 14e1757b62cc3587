// A dialog in which the person confirms an action.

import { signal } from '@preact/signals'
import { words } from '../words.ts'
import { Dialog } from './dialog.tsx'

type Question = { text: string; action: string; answer: (isConfirmed: boolean) => void }

const question = signal<Question | null>(null)

/**
 * Asks the person to confirm an action that cannot be undone. `action` is the label of the button. Resolves to true if
 * the person presses this button, otherwise to false.
 */
export function isConfirmed(text: string, action: string): Promise<boolean> {
  return new Promise(resolve => {
    const answer = (isConfirmed: boolean) => {
      question.value = null
      resolve(isConfirmed)
    }
    question.value = { text, action, answer }
  })
}

export function Confirmation() {
  if (!question.value) return null
  const { text, action, answer } = question.value
  return (
    <Dialog title={action} onClose={() => answer(false)}>
      <p>{text}</p>
      <p class="line end">
        <button type="button" onClick={() => answer(false)}>
          {words.cancel}
        </button>
        <button type="button" class="danger" onClick={() => answer(true)}>
          {action}
        </button>
      </p>
    </Dialog>
  )
}

// A form with a button that submits the form. If the submission fails, the form shows the error message.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { messageOf } from '../base/fault.ts'

type FormProps = {
  /**
   * Called when the person submits the form. If `onSend` throws an error, the form shows the error message below the
   * fields.
   */
  onSend: () => Promise<void>
  button: string
  /** True if sending the form is the main action of the page. The button is then more prominent. */
  isMain?: boolean
  children: ComponentChildren
  class?: string
}

/**
 * A form that shows the error of the last submission. While a submission is running, a further submission is ignored.
 */
export function Form({ onSend, button, isMain = true, children, class: className = '' }: FormProps) {
  const fault = useSignal('')
  const isBusy = useSignal(false)
  const send = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value) return
    isBusy.value = true
    fault.value = ''
    await onSend().catch(error => (fault.value = messageOf(error)))
    isBusy.value = false
  }
  return (
    <form class={className} onSubmit={send}>
      {children}
      {fault.value && <FaultText text={fault.value} />}
      {/* The attribute `disabled` would take the focus away from the button. */}
      <button type="submit" class={isMain ? 'main' : ''} aria-disabled={isBusy.value}>
        {button}
      </button>
    </form>
  )
}

export function FaultText({ text }: { text: string }) {
  return (
    <p class="fault" role="alert">
      {text}
    </p>
  )
}

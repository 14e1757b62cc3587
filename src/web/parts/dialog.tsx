// A modal dialog: the browser keeps the focus inside it. The Escape key closes the dialog if `onClose` is given.

import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { words } from '../words.ts'
import { Icon } from './icon.tsx'
import { showMessagesIn } from './toast.tsx'

type DialogProps = {
  title: string
  /** Called when the person closes the dialog. If `onClose` is missing, the person cannot close the dialog. */
  onClose?: () => void
  wide?: boolean
  children: ComponentChildren
}

export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  // A layout effect runs before the browser draws the page, so the next pressed key already goes to the dialog.
  useLayoutEffect(() => {
    const { current } = dialog
    if (!current) return
    current.showModal()
    const showMessagesBelow = showMessagesIn(current)
    return () => {
      showMessagesBelow()
      current.close()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={wide ? 'wide' : ''}
      aria-labelledby={titleId}
      closedby={onClose ? 'closerequest' : 'none'}
      onCancel={event => !onClose && event.preventDefault()}
      onClose={onClose}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        {onClose && (
          <button type="button" class="quiet icon" aria-label={words.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </header>
      {children}
    </dialog>
  )
}

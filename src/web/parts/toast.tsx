// Short messages at the lower edge of the page. A message may have the button "Undo". Ctrl+Z outside text fields does
// the same as this button, because a keyboard user could hardly reach the button in time.

import { effect, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { messageOf } from '../base/fault.ts'
import { path } from '../base/route.ts'
import { timing } from '../base/timing.ts'
import { words } from '../words.ts'

type Toast = { id: number; text: string; isFault: boolean; action: { label: string; run(): void } | null }

const toasts = signal<Toast[]>([])
let count = 0

/**
 * Shows a short message. If `undo` is given, the button "Undo" calls it. Returns a function that removes the message.
 */
export function tell(text: string, undo?: () => void): () => void {
  const run = () => {
    close(id)
    undo?.()
  }
  const action = undo ? { label: words.undo, run } : null
  const id = show(text, { isFault: false, action, ms: undo ? timing.undoMs : timing.toastMs })
  return () => close(id)
}

export function tellFault(fault: unknown): void {
  show(messageOf(fault), { isFault: true, action: null, ms: timing.undoMs })
}

/** The functions that carry out the actions that can still be undone. */
const unfinished = new Set<() => Promise<void>>()

/**
 * Shows a short message with the button "Undo", which calls `undo`. If the person does not undo, calls `act` after
 * `timing.undoMs`, or earlier when the page is closed or the person signs out.
 */
export function tellWithUndo(
  text: string,
  { act, undo }: { act(): Promise<void>; undo(): Promise<void> | void },
): void {
  const end = (work: () => Promise<void> | void) => async () => {
    if (!unfinished.delete(finish)) return
    removeEventListener('pagehide', finish)
    close(id)
    await work()
  }
  const finish = end(act)
  unfinished.add(finish)
  addEventListener('pagehide', finish)
  const id = show(text, { isFault: false, action: { label: words.undo, run: end(undo) }, ms: timing.undoMs })
  setTimeout(finish, timing.undoMs)
}

/** Carries out all actions that can still be undone. The server would refuse them after the end of the session. */
export async function finishActions(): Promise<void> {
  await Promise.all([...unfinished].map(finish => finish()))
}

// When another page of the app appears, only messages with the button "Undo" stay.
effect(() => {
  path.value
  toasts.value = toasts.peek().filter(({ action }) => action !== null)
})

/** Shows the short messages in a popover, so that they are above an open dialog. */
export function Toasts() {
  const box = useRef<HTMLDivElement>(null)
  const isEmpty = toasts.value.length === 0
  useEffect(() => {
    // A dialog that was opened after the popover lies above it. Hiding and showing the popover puts it above the dialog
    // again.
    box.current?.hidePopover()
    if (!isEmpty) box.current?.showPopover()
  }, [toasts.value])
  useEffect(() => {
    addEventListener('keydown', undoByKey)
    return () => removeEventListener('keydown', undoByKey)
  }, [])
  return (
    <div ref={box} class="toasts" role="status" popover="manual">
      {toasts.value.map(({ id, text, isFault, action }) => (
        <p key={id} class={isFault ? 'toast fault' : 'toast'}>
          <span>{text}</span>
          {action && (
            <button type="button" class="quiet" onClick={action.run}>
              {action.label} <kbd>{words.undoKeys}</kbd>
            </button>
          )}
          <button type="button" class="quiet icon" aria-label={words.close} onClick={() => close(id)}>
            ×
          </button>
        </p>
      ))}
    </div>
  )
}

/**
 * Handles Ctrl+Z and Cmd+Z like the newest button "Undo". Does nothing in a text field, where these keys undo the
 * typing.
 */
function undoByKey(event: KeyboardEvent): void {
  const { target, key, ctrlKey, metaKey, shiftKey } = event
  if (key.toLowerCase() !== 'z' || !(ctrlKey || metaKey) || shiftKey || event.defaultPrevented) return
  if (target instanceof HTMLElement && (target.isContentEditable || target.closest('input, textarea'))) return
  const action = toasts.value.findLast(toast => toast.action !== null)?.action
  if (!action) return
  event.preventDefault()
  action.run()
}

/**
 * Adds a message, and removes all messages except the three newest ones. Messages with the button "Undo" stay, because
 * the person must be able to undo a deletion.
 */
function show(text: string, { ms, ...rest }: Omit<Toast, 'id' | 'text'> & { ms: number }): number {
  const id = count++
  const shown = [...toasts.value, { id, text, ...rest }]
  toasts.value = shown.filter(({ action }, at) => action !== null || at >= shown.length - 3)
  setTimeout(() => close(id), ms)
  return id
}

function close(id: number): void {
  toasts.value = toasts.value.filter(toast => toast.id !== id)
}

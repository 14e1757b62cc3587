// Short messages at the lower edge of the page. A message may have the button "Undo". Ctrl+Z outside text fields does
// the same as this button, because a keyboard user could hardly reach the button in time. No message disappears by
// itself while the pointer or the focus is on one of the messages.

import { effect, signal } from '@preact/signals'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../base/fault.ts'
import { path } from '../base/route.ts'
import { timing } from '../base/timing.ts'
import { unfinished } from '../base/unfinished.ts'
import { words } from '../words.ts'
import { countDown, hold, release } from './countdown.ts'
import { reserveSpace } from './reserve-space.ts'
import { useReturnedFocus } from './returned-focus.ts'

type Toast = {
  id: number
  text: string
  isFault: boolean
  /** The action of the button "Undo". Null if the message has no such button. */
  undo: (() => void) | null
  /** Called when the time of the message is over, or when the person closes the message. */
  end: () => void
}

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
  const id = show(text, { undo: undo ? run : null, ms: undo ? timing.undoMs : timing.toastMs })
  return () => close(id)
}

export function tellFault(fault: unknown): void {
  show(messageOf(fault), { isFault: true, ms: timing.undoMs })
}

/**
 * Shows a short message with the button "Undo", which calls `undo`. If the person does not undo, calls `act` after
 * `timing.undoMs`, or earlier when the person closes the message or the page, or signs out.
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
  const id = show(text, { undo: end(undo), end: finish, ms: timing.undoMs })
}

// When another page of the app appears, only messages with the button "Undo" stay.
effect(() => {
  path.value
  toasts.value = toasts.peek().filter(({ undo }) => undo !== null)
})

/** The open dialogs. The last one was opened last. */
const dialogs: HTMLElement[] = []

/**
 * The element that contains the messages. It is a popover, so that the messages are above an open dialog. It stays on
 * the page without a message too: a screen reader reads a new message aloud only if the element was there before.
 */
const box = document.createElement('div')
box.className = 'toasts'
box.role = 'status'
box.popover = 'manual'
render(<Toasts />, box)
place()
reserveSpace(box, '--messages')

/**
 * Shows the messages inside a modal dialog until the returned function is called. A modal dialog blocks the page
 * outside it. There, a person could not press the buttons of the messages, and a screen reader would not read the
 * messages.
 */
export function showMessagesIn(dialog: HTMLElement): () => void {
  dialogs.push(dialog)
  place()
  return () => {
    dialogs.splice(dialogs.indexOf(dialog), 1)
    place()
  }
}

function place(): void {
  const parent = dialogs.at(-1) ?? document.body
  parent.append(box)
  box.showPopover()
}

function Toasts() {
  useEffect(() => {
    addEventListener('keydown', undoByKey)
    return () => removeEventListener('keydown', undoByKey)
  }, [])
  return (
    <>
      {toasts.value.map(toast => (
        <Message key={toast.id} toast={toast} />
      ))}
    </>
  )
}

function Message({ toast: { id, text, isFault, undo, end } }: { toast: Toast }) {
  const message = useReturnedFocus<HTMLParagraphElement>()
  const [pointer, focus] = [`pointer on ${id}`, `focus on ${id}`]
  useEffect(
    () => () => {
      release(pointer)
      release(focus)
    },
    [],
  )
  return (
    <p
      ref={message}
      class={isFault ? 'toast fault' : 'toast'}
      onPointerEnter={() => hold(pointer)}
      onPointerLeave={() => release(pointer)}
      onFocusIn={() => hold(focus)}
      onFocusOut={() => release(focus)}
    >
      <span>{text}</span>
      {undo && (
        <button type="button" class="quiet" onClick={undo}>
          {words.undo} <kbd>{words.undoKeys}</kbd>
        </button>
      )}
      <button type="button" class="quiet icon" aria-label={words.close} onClick={end}>
        ×
      </button>
    </p>
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
  const undo = toasts.value.findLast(toast => toast.undo !== null)?.undo
  if (!undo) return
  event.preventDefault()
  undo()
}

/**
 * Adds a message, and removes all messages except the three newest ones. Messages with the button "Undo" stay, because
 * the person must be able to undo a deletion.
 */
function show(text: string, { ms, ...rest }: Partial<Omit<Toast, 'id' | 'text'>> & { ms: number }): number {
  const id = count++
  const toast = { id, text, isFault: false, undo: null, end: () => close(id), ...rest }
  const shown = [...toasts.value, toast]
  toasts.value = shown.filter(({ undo }, at) => undo !== null || at >= shown.length - 3)
  countDown(ms, toast.end)
  return id
}

function close(id: number): void {
  toasts.value = toasts.value.filter(toast => toast.id !== id)
}

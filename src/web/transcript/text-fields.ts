// Makes each utterance a separate text field, so that an edit does not change the word times of other utterances.

import { isComposing } from '../base/composing.ts'
import { showClock } from '../base/format.ts'
import { words } from '../words.ts'
import { textBeforeCaret } from './caret.ts'
import { tidied } from './document.ts'
import type { Studio } from './studio.ts'
import { focusText, type TranscriptView } from './view.ts'

const text = words.editing

/** Makes each utterance a text field. Returns a function that ends the editing. */
export function startEditing(studio: Studio): () => void {
  const { view, edits } = studio
  if (!view) return () => {}
  view.keepPlace(() => {
    view.root.classList.add('editing')
    view.spans.forEach((span, at) => {
      span.contentEditable = 'plaintext-only'
      span.role = 'textbox'
      span.spellcheck = true
      span.setAttribute('aria-label', text.field(showClock(view.startOf(at))))
    })
  })
  studio.focusWanted()
  const stop = new AbortController()
  const { signal } = stop
  view.root.addEventListener('beforeinput', event => beforeInput(studio, event), { signal })
  view.root.addEventListener('input', event => input(studio, event), { signal })
  view.root.addEventListener('focusout', event => leave(studio, event), { signal })
  view.root.addEventListener('keydown', event => press(studio, event), { signal })
  return () => {
    stop.abort()
    // The page of the transcript has been left.
    if (studio.view !== view) return
    const { activeElement } = document
    view.keepPlace(() => endFields(view))
    if (activeElement instanceof HTMLElement && view.root.contains(activeElement)) focusText(activeElement)
    void edits.saving.save()
  }
}

/** Makes the text fields plain text again. */
function endFields({ root, spans }: TranscriptView): void {
  // While the text is hidden, Chromium does not compute the styles again for each changed sentence. In a transcript of
  // ten hours, this takes 0.2 s of CPU time instead of 1.9 s.
  root.hidden = true
  for (const span of spans) {
    for (const name of ['contenteditable', 'role', 'spellcheck', 'aria-label']) span.removeAttribute(name)
  }
  root.classList.remove('editing')
  root.hidden = false
}

function beforeInput({ edits }: Studio, event: InputEvent): void {
  if (event.inputType === 'historyUndo' || event.inputType === 'historyRedo') {
    event.preventDefault()
    if (event.inputType === 'historyUndo') edits.undo()
    else edits.redo()
  }
  if (event.inputType === 'insertParagraph' || event.inputType === 'insertLineBreak') event.preventDefault()
}

function input({ edits, following }: Studio, event: Event): void {
  const span = utteranceOf(event)
  if (!span) return
  // While the recording plays, the page scrolls to the spoken words. Here, it would scroll away from the typed text.
  following.set(false)
  const value = span.textContent ?? ''
  // The browser adds a <br> to an emptied text field, and several nodes for pasted lines. The highlights need exactly
  // one text node in each utterance, so one new node replaces all nodes.
  if (span.childNodes.length !== 1 || /[\r\n]/.test(value)) {
    const caret = withoutLines(textBeforeCaret(span)).length
    const text = new Text(withoutLines(value))
    span.replaceChildren(text)
    getSelection()?.collapse(text, Math.min(caret, text.length))
  }
  edits.type(Number(span.dataset.at), tidied(value))
}

/**
 * Removes superfluous spaces when the person leaves a text field. During typing, their removal would move the caret.
 */
function leave({ edits, view }: Studio, event: Event): void {
  const span = utteranceOf(event)
  if (span) view?.write(Number(span.dataset.at), edits.saving.textOf(Number(span.dataset.at)))
}

function withoutLines(text: string): string {
  return text.replace(/\s*[\r\n]\s*/g, ' ')
}

function press(studio: Studio, event: KeyboardEvent): void {
  const { edits, view, player } = studio
  const span = utteranceOf(event)
  if (!span || !view || isComposing(event)) return
  const at = Number(span.dataset.at)
  const isCommand = event.ctrlKey || event.metaKey
  const key = event.key.toLowerCase()
  if (key === 'escape') {
    leave(studio, event)
    edits.setEditing(false)
  } else if (key === 'enter' && isCommand) {
    studio.playFrom(view.startOf(at))
  } else if (key === 'enter') {
    view.spans[at + (event.shiftKey ? -1 : 1)]?.focus()
  } else if (key === ' ' && isCommand) {
    player.toggle()
  } else if (isCommand && (key === 'z' || key === 'y')) {
    if (key === 'y' || event.shiftKey) edits.redo()
    else edits.undo()
  } else {
    return
  }
  event.preventDefault()
}

function utteranceOf({ target }: Event): HTMLElement | null {
  return target instanceof HTMLElement ? target.closest<HTMLElement>('.utterance') : null
}

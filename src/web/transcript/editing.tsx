// The bar for correcting the text: undo, redo, and whether all changes are saved.

import { useLayoutEffect } from 'preact/hooks'
import { isOnline } from '../base/connection.ts'
import { showClock } from '../base/format.ts'
import { FaultText } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { useReturnedFocus } from '../parts/returned-focus.ts'
import { words } from '../words.ts'
import { ConflictDialog } from './conflict.tsx'
import type { SaveState } from './saving.ts'
import type { Studio } from './studio.ts'
import { startEditing } from './text-fields.ts'

const text = words.editing

export function Editing({ studio }: { studio: Studio }) {
  const { edits } = studio
  const isEditing = edits.isEditing.value
  // A layout effect runs before the browser draws the page, so the next pressed key already goes to the sentence.
  useLayoutEffect(() => (isEditing ? startEditing(studio) : undefined), [isEditing])
  return (
    <>
      {isEditing && <EditBar studio={studio} />}
      {edits.saving.fault.value && (
        <p class="fault" role="alert">
          {text.notSaved} {edits.saving.fault.value}
        </p>
      )}
      <Refused studio={studio} />
      {edits.saving.conflicts.value[0] && (
        <ConflictDialog studio={studio} conflict={edits.saving.conflicts.value[0]} />
      )}
    </>
  )
}

function EditBar({ studio: { edits } }: { studio: Studio }) {
  const bar = useReturnedFocus<HTMLDivElement>()
  return (
    <div ref={bar} class="edit-bar">
      <button
        type="button"
        class="quiet icon"
        aria-label={text.undo}
        aria-disabled={!edits.history.canUndo.value}
        onClick={() => edits.undo()}
      >
        <Icon name="undo" />
      </button>
      <button
        type="button"
        class="quiet icon"
        aria-label={text.redo}
        aria-disabled={!edits.history.canRedo.value}
        onClick={() => edits.redo()}
      >
        <Icon name="redo" />
      </button>
      <span class="hint" role="status">
        {stateText(edits.saving.state.value)}
      </span>
      <span class="hint keys-only">{text.keys}</span>
      <button type="button" class="main done" onClick={() => edits.setEditing(false)}>
        {text.done}
      </button>
    </div>
  )
}

/**
 * Returns the text for a state. This text also says that the server does not answer, because the banner at the top is
 * not visible on a scrolled page.
 */
function stateText(state: SaveState): string {
  return state === 'saving' && !isOnline.value ? text.offline : text.states[state]
}

/** Tells the person that the server does not accept the text of a sentence, and what to do. */
function Refused({ studio: { edits, view } }: { studio: Studio }) {
  const utterance = edits.saving.refused.value
  if (utterance === null || !view) return null
  return <FaultText text={text.refused(showClock(view.startOf(utterance)))} />
}

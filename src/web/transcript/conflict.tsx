// The dialog that shows a conflict: two people changed the same sentence.

import { showClock } from '../base/format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { words } from '../words.ts'
import type { Conflict } from './saving.ts'
import type { Studio } from './studio.ts'

const text = words.editing

export function ConflictDialog({ studio, conflict }: { studio: Studio; conflict: Conflict }) {
  const { edits } = studio
  return (
    <Dialog title={text.conflict} key={conflict.utterance}>
      <p>{text.conflictLead(showClock(studio.view?.startOf(conflict.utterance) ?? 0))}</p>
      <h3>{text.mine}</h3>
      <blockquote dir="auto">{conflict.mine}</blockquote>
      <h3>{text.theirs}</h3>
      <blockquote dir="auto">{conflict.theirs.text}</blockquote>
      <div class="line">
        <button type="button" class="main" onClick={() => edits.saving.settle(conflict, 'mine')}>
          {text.keepMine}
        </button>
        <button type="button" onClick={() => edits.saving.settle(conflict, 'theirs')}>
          {text.keepTheirs}
        </button>
      </div>
    </Dialog>
  )
}

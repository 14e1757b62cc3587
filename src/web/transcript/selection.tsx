// The toolbar for a selected passage. Its buttons play the recording from the start of the passage, copy its text or a
// link to its start, or save it as subtitles.

import { useLayoutEffect } from 'preact/hooks'
import { showClock } from '../base/format.ts'
import { baseNameOf } from '../jobs/job.ts'
import { copy } from '../parts/clipboard.ts'
import { words } from '../words.ts'
import { copyLink } from './copying.ts'
import type { Passage } from './passage.ts'
import { saveFile, usualSubtitles, writePassage } from './passage-files.ts'
import type { Studio } from './studio.ts'
import { wordAtCharacter } from './word-index.ts'

const text = words.selection

export function Selection({ studio }: { studio: Studio }) {
  const { passage } = studio
  // A layout effect runs before the browser draws the text, so the listener also sees an immediate selection.
  useLayoutEffect(() => {
    const look = () => {
      passage.value = studio.edits.isEditing.value ? null : selectedPassage(studio)
    }
    document.addEventListener('selectionchange', look)
    return () => document.removeEventListener('selectionchange', look)
  }, [studio])
  const chosen = passage.value
  if (!chosen) return null
  const { start, end } = timesOf(studio, chosen)
  const spoken = getSelection()?.toString().replace(/\s+/g, ' ').trim() ?? ''
  return (
    <div class="selection" role="toolbar" aria-label={text.title}>
      <span class="hint">
        {showClock(start)} – {showClock(end)}
      </span>
      <button type="button" class="quiet" onClick={() => studio.playFrom(start)}>
        {text.play}
      </button>
      <button type="button" class="quiet" onClick={() => copy(spoken, words.transcript.textCopied)}>
        {text.copy}
      </button>
      <button
        type="button"
        class="quiet"
        onClick={() => copy(`[${showClock(start)}] ${spoken}`, words.transcript.textCopied)}
      >
        {text.copyWithTime}
      </button>
      <button type="button" class="quiet" onClick={() => copyLink(start)}>
        {text.link}
      </button>
      <button type="button" class="quiet" onClick={() => saveSubtitles(studio, chosen)}>
        {text.subtitles}
      </button>
    </div>
  )
}

export function timesOf({ view }: Studio, { first, last }: Passage): { start: number; end: number } {
  return { start: view?.index.starts[first] ?? 0, end: view?.index.ends[last] ?? 0 }
}

/**
 * Returns the passage that is selected on the page. Returns null if nothing is selected, or if the selection extends
 * beyond the transcript.
 */
function selectedPassage({ view }: Studio): Passage | null {
  const selection = getSelection()
  if (!view || !selection || selection.isCollapsed || selection.rangeCount === 0) return null
  const range = selection.getRangeAt(0)
  if (!view.root.contains(range.commonAncestorContainer)) return null
  const inside = view.spans.filter(span => range.intersectsNode(span))
  const first = inside[0]
  const last = inside.at(-1)
  if (!first || !last) return null
  const isFirst = first.contains(range.startContainer)
  const isLast = last.contains(range.endContainer)
  const end = isLast ? range.endOffset : (last.textContent?.length ?? 0)
  return {
    first: wordAtCharacter(view.index, Number(first.dataset.at), isFirst ? range.startOffset + 1 : 0),
    last: wordAtCharacter(view.index, Number(last.dataset.at), end),
  }
}

function saveSubtitles(studio: Studio, passage: Passage): void {
  if (!studio.view) return
  saveFile(`${passageName(studio, passage)}.srt`, writePassage(studio.view, passage, usualSubtitles))
}

/** Returns the file name for a passage, without extension: the name of the job and the start of the passage. */
export function passageName(studio: Studio, passage: Passage): string {
  const { start } = timesOf(studio, passage)
  return `${baseNameOf(studio.job)} ${showClock(start).replaceAll(':', '-')}`
}

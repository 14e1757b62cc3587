// The toolbar for a selected passage. Its buttons play the recording from the start of the passage, copy its text or a
// link to its start, or save it as subtitles.

import { useLayoutEffect, useRef } from 'preact/hooks'
import { showClock } from '../base/format.ts'
import { baseNameOf } from '../jobs/job.ts'
import { copy } from '../parts/clipboard.ts'
import { reserveSpace } from '../parts/reserve-space.ts'
import { words } from '../words.ts'
import { copyLink } from './copying.ts'
import { tidied } from './document.ts'
import type { Passage } from './passage.ts'
import { saveFile, usualSubtitles, writePassage } from './passage-files.ts'
import type { Studio } from './studio.ts'
import { wordAtCharacter } from './word-index.ts'

const text = words.selection

export function Selection({ studio }: { studio: Studio }) {
  const { passage } = studio
  // A layout effect runs before the browser draws the text, so the listener is there before the person can select text.
  useLayoutEffect(() => {
    const look = () => {
      passage.value = studio.edits.isEditing.value ? null : selectedPassage(studio)
    }
    document.addEventListener('selectionchange', look)
    return () => document.removeEventListener('selectionchange', look)
  }, [studio])
  return passage.value && <PassageTools studio={studio} passage={passage.value} />
}

function PassageTools({ studio, passage }: { studio: Studio; passage: Passage }) {
  const bar = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => (bar.current ? reserveSpace(bar.current, '--passage') : undefined), [])
  const { start, end } = timesOf(studio, passage)
  const copyPassage = (before: string) =>
    copy(`${before}${textOf(studio, passage)}`, words.transcript.textCopied)
  return (
    <div ref={bar} class="selection" role="toolbar" aria-label={text.title}>
      <span class="hint">
        {showClock(start)} – {showClock(end)}
      </span>
      <button type="button" class="quiet" onClick={() => studio.playFrom(start)}>
        {text.play}
      </button>
      <button type="button" class="quiet" onClick={() => copyPassage('')}>
        {text.copy}
      </button>
      <button type="button" class="quiet" onClick={() => copyPassage(`[${showClock(start)}] `)}>
        {text.copyWithTime}
      </button>
      <button type="button" class="quiet" onClick={() => copyLink(start)}>
        {text.link}
      </button>
      <button type="button" class="quiet" onClick={() => saveSubtitles(studio, passage)}>
        {text.subtitles}
      </button>
    </div>
  )
}

export function timesOf({ view }: Studio, { first, last }: Passage): { start: number; end: number } {
  return { start: view?.index.starts[first] ?? 0, end: view?.index.ends[last] ?? 0 }
}

/**
 * Returns the passage that is selected on the page. Returns null if nothing is selected, or if the selection begins
 * outside the transcript. It may end outside: a triple click on a paragraph ends in the element after it.
 */
function selectedPassage({ view }: Studio): Passage | null {
  const selection = getSelection()
  if (!view || !selection || selection.isCollapsed || selection.rangeCount === 0) return null
  const range = selection.getRangeAt(0)
  if (!view.root.contains(range.startContainer)) return null
  const inside = view.spans.filter(span => range.intersectsNode(span))
  const first = inside[0]
  const last = inside.at(-1)
  if (!first || !last) return null
  const isFirst = first.contains(range.startContainer)
  const isLast = last.contains(range.endContainer)
  const end = isLast ? range.endOffset : (last.textContent?.length ?? 0)
  // `+ 1` leaves out a word that ends where the selection begins.
  return {
    first: wordAtCharacter(view.index, Number(first.dataset.at), isFirst ? range.startOffset + 1 : 0),
    last: wordAtCharacter(view.index, Number(last.dataset.at), end),
  }
}

/**
 * Returns the text of the selection. In one paragraph, returns exactly the selected characters. A selection of several
 * paragraphs also contains the displayed times of the paragraphs, which do not belong to the text. In this case, the
 * text is built from the words of the passage, so it has whole words only. It has one paragraph for each turn of a
 * speaker.
 */
function textOf({ view }: Studio, passage: Passage): string {
  const [paragraph, last] = [passage.first, passage.last].map(word => {
    const place = view?.placeOf(word)
    return place && view?.spans[place.utterance]?.parentElement
  })
  if (!view || !paragraph) return ''
  if (paragraph !== last)
    return writePassage(view, passage, { ...usualSubtitles, format: 'text', withSpeakers: true }).trim()
  const range = document.createRange()
  range.selectNodeContents(paragraph)
  const selected = getSelection()?.getRangeAt(0)
  if (selected && paragraph.contains(selected.startContainer))
    range.setStart(selected.startContainer, selected.startOffset)
  if (selected && paragraph.contains(selected.endContainer))
    range.setEnd(selected.endContainer, selected.endOffset)
  return tidied(range.toString())
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

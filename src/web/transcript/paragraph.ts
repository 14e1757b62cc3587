// Makes the elements of one paragraph of a transcript: the time, the name of the speaker, and the utterances.

import { showClock } from '../base/format.ts'
import { words } from '../words.ts'
import { separatorOf, type Utterance } from './document.ts'
import type { Turn } from './turns.ts'

export type ParagraphOptions = {
  language: string
  /** Returns the displayed name for the label of a speaker. */
  nameOf: (speaker: string) => string
  /** Returns the number of the colour for the label of a speaker. */
  colourOf: (speaker: string) => number
}

/**
 * The HTML elements of a paragraph: the whole paragraph, its utterances, and the name of its speaker. `name` is null if
 * the previous paragraph has the same speaker, or if there is no speaker.
 */
export type Paragraph = { row: HTMLElement; spans: HTMLElement[]; name: HTMLElement | null }

export function paragraphOf(
  turn: Turn,
  utterances: readonly Utterance[],
  options: ParagraphOptions,
): Paragraph {
  const row = element('div', turn.isNewSpeaker ? 'turn first' : 'turn')
  const margin = element('div', 'margin')
  margin.append(timeOf(utterances[turn.first]?.start ?? 0))
  if (turn.speaker !== null) row.dataset.speaker = String(options.colourOf(turn.speaker))
  const name = turn.speaker !== null && turn.isNewSpeaker ? nameOf(turn.speaker, options) : null
  if (name) margin.prepend(name)
  const paragraph = element('p', '')
  paragraph.dir = 'auto'
  const spans = utterances.slice(turn.first, turn.last).map(({ text }, at) => {
    const span = element('span', 'utterance')
    span.dataset.at = String(turn.first + at)
    span.append(new Text(text))
    paragraph.append(span, separatorOf(options.language))
    return span
  })
  row.append(margin, paragraph)
  return { row, spans, name }
}

/** A button that shows the start time of a paragraph. A click on the button plays the recording from this time. */
function timeOf(start: number): HTMLElement {
  const time = element('button', 'time')
  time.type = 'button'
  time.textContent = showClock(start)
  time.dataset.seconds = String(start)
  time.setAttribute('aria-label', words.transcript.playFrom(showClock(start)))
  return time
}

function nameOf(speaker: string, options: ParagraphOptions): HTMLElement {
  const name = element('strong', 'name')
  name.dir = 'auto'
  name.dataset.label = speaker
  name.title = words.speakers.renameHere
  name.textContent = options.nameOf(speaker)
  return name
}

function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  if (className) made.className = className
  return made
}

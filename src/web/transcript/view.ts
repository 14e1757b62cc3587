// Renders the text of a transcript. Each utterance is one text node. Words are highlighted by the CSS Custom Highlight
// API, so a word needs no element of its own, and the page stays fast with a transcript of ten hours. The browser's
// search, the selection of text, and screen readers work as in any other text.

import { showClock } from '../base/format.ts'
import { words } from '../words.ts'
import { directionOf, separatorOf, type Utterance } from './document.ts'
import { type Turn, turnsOf } from './turns.ts'
import { firstWordOf, indexWords, type WordIndex, wordAt, wordAtCharacter } from './word-index.ts'

export type Place = { utterance: number; from: number; to: number }

export type ViewOptions = {
  language: string
  /** Returns the name that the page shows for a speaker. `speaker` is the label of the speaker. */
  nameOf: (speaker: string) => string
  /** Returns the number of the colour for a speaker. `speaker` is the label of the speaker. */
  colourOf: (speaker: string) => number
  /** Called when the player's position reaches another utterance. `utterance` is the element of this utterance. */
  onSpoken: (utterance: HTMLElement) => void
}

export class TranscriptView {
  index: WordIndex
  /** True while the page scrolls with the spoken words. It becomes false when the person scrolls. */
  follows = true
  readonly spans: HTMLElement[] = []
  readonly #turns: { turn: Turn; row: HTMLElement; name: HTMLElement | null }[] = []
  readonly #spoken = new Highlight()
  #word = -1
  #row: Element | null = null
  #sentence: HTMLElement | null = null

  constructor(
    readonly root: HTMLElement,
    readonly utterances: Utterance[],
    readonly options: ViewOptions,
  ) {
    this.index = indexWords(utterances)
    root.lang = options.language
    if (directionOf(utterances) === 'rtl') root.dir = 'rtl'
    const all = document.createDocumentFragment()
    for (const turn of turnsOf(utterances)) all.append(this.#rowOf(turn))
    root.replaceChildren(all)
    CSS.highlights.set('spoken', this.#spoken)
  }

  /**
   * Highlights the word that is spoken at the time `seconds`. Returns the index of this word, or -1 if the time is
   * before the first word.
   */
  show(seconds: number): number {
    const word = wordAt(this.index, seconds)
    if (word === this.#word) return word
    this.#word = word
    this.#spoken.clear()
    const place = this.placeOf(word)
    if (!place) return word
    this.#spoken.add(this.rangeOf(place))
    const sentence = this.spans[place.utterance] ?? null
    if (sentence && sentence !== this.#sentence) this.options.onSpoken(sentence)
    this.#sentence = sentence
    const row = sentence?.closest('.turn') ?? null
    if (row !== this.#row) {
      this.#row?.removeAttribute('aria-current')
      row?.setAttribute('aria-current', 'true')
      this.#row = row
    }
    if (this.follows) this.reveal(place.utterance, { calmly: true })
    return word
  }

  /**
   * Scrolls to an utterance. If `calmly` is true, does not scroll while the utterance is in the middle part of the
   * window.
   */
  reveal(utterance: number, { calmly = false }: { calmly?: boolean } = {}): void {
    const span = this.spans[utterance]
    if (!span) return
    const { top, bottom } = span.getBoundingClientRect()
    if (calmly && top > innerHeight * 0.15 && bottom < innerHeight * 0.7) return
    const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'auto'
    span.scrollIntoView({ block: 'center', behavior })
  }

  /** Highlights the places in the text. `name` chooses the style: the style sheet defines it as `::highlight(name)`. */
  light(name: string, places: Iterable<Place>): void {
    CSS.highlights.set(name, new Highlight(...[...places].map(place => this.rangeOf(place))))
  }

  unlight(name: string): void {
    CSS.highlights.delete(name)
  }

  placeOf(word: number): Place | null {
    const { owners, from, to } = this.index
    const utterance = owners[word]
    if (utterance === undefined) return null
    return { utterance, from: from[word] ?? 0, to: to[word] ?? 0 }
  }

  rangeOf({ utterance, from, to }: Place): StaticRange {
    const node = this.#textOf(utterance)
    const length = node.data.length
    return new StaticRange({
      startContainer: node,
      startOffset: Math.min(from, length),
      endContainer: node,
      endOffset: Math.min(to, length),
    })
  }

  /**
   * Returns the index of the word at a point of the window. Returns null if the point is not in the text of an
   * utterance.
   */
  wordAtPoint(x: number, y: number): number | null {
    const caret = caretAt(x, y)
    const span = caret?.node.parentElement?.closest<HTMLElement>('.utterance')
    if (!caret || !span) return null
    return wordAtCharacter(this.index, Number(span.dataset.at), caret.offset)
  }

  startOf(utterance: number): number {
    return this.index.starts[firstWordOf(this.index, utterance)] ?? this.utterances[utterance]?.start ?? 0
  }

  /** Replaces the text that the page shows for an utterance. */
  write(utterance: number, text: string): void {
    const span = this.spans[utterance]
    if (span && span.textContent !== text) span.replaceChildren(new Text(text))
  }

  /** Builds the index of the words again. It must be called after texts or times of the transcript have changed. */
  reindex(): void {
    this.index = indexWords(this.utterances)
    this.#word = -1
  }

  /** Updates the names of the speakers on the page. It must be called after the name of a speaker has changed. */
  rename(): void {
    for (const { turn, name } of this.#turns) {
      if (name && turn.speaker !== null) name.textContent = this.options.nameOf(turn.speaker)
    }
  }

  close(): void {
    for (const name of ['spoken', 'doubt', 'found', 'current']) CSS.highlights.delete(name)
  }

  #textOf(utterance: number): Text {
    const span = this.spans[utterance]
    const node = span?.firstChild
    if (node instanceof Text) return node
    const fresh = new Text(span?.textContent ?? '')
    span?.replaceChildren(fresh)
    return fresh
  }

  #rowOf(turn: Turn): HTMLElement {
    const row = element('div', turn.isNewSpeaker ? 'turn first' : 'turn')
    const start = this.utterances[turn.first]?.start ?? 0
    const margin = element('div', 'margin')
    const time = element('button', 'time')
    time.type = 'button'
    time.textContent = showClock(start)
    time.dataset.seconds = String(start)
    time.setAttribute('aria-label', words.transcript.playFrom(showClock(start)))
    margin.append(time)
    let name: HTMLElement | null = null
    if (turn.speaker !== null) row.dataset.speaker = String(this.options.colourOf(turn.speaker))
    if (turn.speaker !== null && turn.isNewSpeaker) {
      name = element('strong', 'name')
      name.dir = 'auto'
      name.dataset.label = turn.speaker
      name.title = words.speakers.renameHere
      name.textContent = this.options.nameOf(turn.speaker)
      margin.prepend(name)
    }
    row.append(margin, this.#paragraphOf(turn))
    this.#turns.push({ turn, row, name })
    return row
  }

  #paragraphOf({ first, last }: Turn): HTMLElement {
    const paragraph = element('p', '')
    paragraph.dir = 'auto'
    for (let at = first; at < last; at++) {
      const span = element('span', 'utterance')
      span.dataset.at = String(at)
      span.append(new Text(this.utterances[at]?.text ?? ''))
      this.spans.push(span)
      paragraph.append(span, separatorOf(this.options.language))
    }
    return paragraph
  }
}

/**
 * Returns the position in the text at a point of the window. Older versions of Safari have only the function
 * caretRangeFromPoint.
 */
function caretAt(x: number, y: number): { node: Node; offset: number } | null {
  if ('caretPositionFromPoint' in document) {
    const caret = document.caretPositionFromPoint(x, y)
    return caret && { node: caret.offsetNode, offset: caret.offset }
  }
  const range = (document as Document).caretRangeFromPoint(x, y)
  return range && { node: range.startContainer, offset: range.startOffset }
}

function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  if (className) made.className = className
  return made
}

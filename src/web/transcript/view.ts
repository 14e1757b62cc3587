// Renders the text of a transcript, with one text node for each utterance. The CSS Custom Highlight API highlights
// words without an element for each word. The page therefore stays fast with ten hours of speech.

import { textBeforeCaret } from './caret.ts'
import { directionOf, type Place, type Utterance } from './document.ts'
import { type Paragraph, type ParagraphOptions, paragraphOf } from './paragraph.ts'
import { changeOf } from './text-change.ts'
import { turnsOf } from './turns.ts'
import { firstWordOf, indexWords, type WordIndex, wordAtCharacter } from './word-index.ts'
import { wordAt } from './word-times.ts'

export type ViewOptions = ParagraphOptions & {
  /** Returns true while the page scrolls with the spoken words. */
  follows: () => boolean
  /** Called with the element of an utterance when the player reaches it. */
  onSpoken: (utterance: HTMLElement) => void
}

/** Focuses an utterance, which need not be a text field. A keyboard user then continues at this place. */
export function focusText(span: HTMLElement): void {
  span.tabIndex = -1
  span.focus({ preventScroll: true })
  span.addEventListener('blur', () => span.removeAttribute('tabindex'), { once: true })
}

export class TranscriptView {
  index: WordIndex
  /** The HTML elements of the utterances, in the order of the utterances. */
  readonly spans: HTMLElement[]
  readonly #paragraphs: Paragraph[]
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
    this.#paragraphs = turnsOf(utterances).map(turn => paragraphOf(turn, utterances, options))
    this.spans = this.#paragraphs.flatMap(({ spans }) => spans)
    const all = document.createDocumentFragment()
    for (const { row } of this.#paragraphs) all.append(row)
    root.replaceChildren(all)
    CSS.highlights.set('spoken', this.#spoken)
  }

  /**
   * Highlights the word that is spoken at the time `seconds`. During a pause, highlights the word before the pause.
   * Scrolls to the utterance of this word while the page follows the spoken words. Returns the index of the word, or -1
   * before the first word.
   */
  show(seconds: number): number {
    const word = wordAt(this.index.times, seconds)
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
    if (this.options.follows()) this.reveal(place.utterance, { calmly: true })
    return word
  }

  /** Focuses the utterance that the player is playing. */
  focusSpoken(): void {
    if (this.#sentence) focusText(this.#sentence)
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

  /**
   * Calls `change`, which changes the layout of the text. Then scrolls so that the text does not seem to move: the
   * utterance that `utteranceInView` returns keeps its place in the window. At the top of the page, does not scroll, so
   * that the buttons above the text keep their place.
   */
  keepPlace(change: () => void): void {
    const span = this.spans[this.utteranceInView()]
    const before = span?.getBoundingClientRect().top ?? 0
    const isAtTop = scrollY === 0
    change()
    if (isAtTop) return
    scrollBy({ top: (span?.getBoundingClientRect().top ?? 0) - before, behavior: 'instant' })
  }

  /**
   * Returns the index of the utterance at which the person is: the one that has the focus, the one at the position of
   * the player, or the first one in the middle part of the window. The first two count only if they are visible.
   */
  utteranceInView(): number {
    for (const element of [document.activeElement, this.#sentence]) {
      const at = this.spans.findIndex(span => span.isSameNode(element))
      const { top, bottom } = this.spans[at]?.getBoundingClientRect() ?? { top: -1, bottom: 0 }
      if (top >= 0 && bottom <= innerHeight) return at
    }
    let low = 0
    let high = this.spans.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.spans[middle]?.getBoundingClientRect().top ?? 0) < innerHeight * 0.4) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Highlights the places in the text with the style `::highlight(name)` of the style sheet. */
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

  /** Returns the index of the word at a point of the window, or null outside the utterances. */
  wordAtPoint(x: number, y: number): number | null {
    const caret = caretAt(x, y)
    const span = caret?.node.parentElement?.closest<HTMLElement>('.utterance')
    if (!caret || !span) return null
    return wordAtCharacter(this.index, Number(span.dataset.at), caret.offset)
  }

  startOf(utterance: number): number {
    return this.index.starts[firstWordOf(this.index, utterance)] ?? this.utterances[utterance]?.start ?? 0
  }

  /**
   * Changes the displayed text of an utterance, but only the part that differs. If the caret is in the changed part, it
   * moves to the end of this part. Otherwise it stays at its place in the text.
   */
  write(utterance: number, text: string): void {
    const node = this.#textOf(utterance)
    if (node.data === text) return
    const { from, to, text: fresh } = changeOf(node.data, text)
    const field = node.parentElement
    const caret = field && field === document.activeElement ? textBeforeCaret(field).length : -1
    node.replaceData(from, to - from, fresh)
    if (caret >= from && caret <= to) getSelection()?.collapse(node, from + fresh.length)
  }

  /**
   * Builds the index of the words again. The caller must call this function after texts or times of the transcript have
   * changed.
   */
  reindex(): void {
    this.index = indexWords(this.utterances)
    this.#word = -1
  }

  /** Updates the names of the speakers on the page. Must be called after the name of a speaker has changed. */
  rename(): void {
    for (const { name } of this.#paragraphs) {
      if (name) name.textContent = this.options.nameOf(name.dataset.label ?? '')
    }
  }

  close(): void {
    for (const name of ['spoken', 'doubt', 'found', 'current']) CSS.highlights.delete(name)
  }

  /** Returns the text node of an utterance. If an edit has left no node or several nodes, first makes one node. */
  #textOf(utterance: number): Text {
    const span = this.spans[utterance]
    const node = span?.firstChild
    if (node instanceof Text && node === span?.lastChild) return node
    const fresh = new Text(span?.textContent ?? '')
    span?.replaceChildren(fresh)
    return fresh
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

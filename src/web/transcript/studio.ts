// The state that all components of the transcript page share: the text, the player, the edits, and which tools are
// open.

import { signal } from '@preact/signals'
import { showSpeaker } from '../base/format.ts'
import type { Place, Result } from './document.ts'
import { DoubtMarks } from './doubt-marks.ts'
import { Edits } from './edits.ts'
import { Following } from './following.ts'
import type { WholeJob } from './job-head.tsx'
import type { Passage } from './passage.ts'
import { Player } from './player.ts'
import { talkTimes } from './turns.ts'
import { TranscriptView } from './view.ts'

/** The number of colours for speakers in the style sheet. */
const colours = 8

export class Studio {
  readonly player: Player
  readonly edits: Edits
  readonly following = new Following()
  readonly doubt = new DoubtMarks()
  readonly isFinding = signal(false)
  /**
   * The number of calls of `setFinding(true)`, which opens the search bar. When this number changes, the field of the
   * search bar gets the focus, also if the bar was already open.
   */
  readonly finds = signal(0)
  /** The passage that the person has selected. Null if nothing is selected. */
  readonly passage = signal<Passage | null>(null)
  /**
   * The label of the speaker whose name the person has clicked in the text. The list of speakers then focuses the field
   * with this name, and sets this signal to null.
   */
  readonly renaming = signal<string | null>(null)
  readonly dialog = signal<'export' | null>(null)
  /** The address of the subtitle file for the video. Null while the subtitles are off. */
  readonly subtitles = signal<string | null>(null)
  /** Called with the position of the player in seconds: at each frame while it plays, and after each seek. */
  onTime: (seconds: number) => void = () => {}
  view: TranscriptView | null = null
  /** The place at which the caret must be when editing starts. Null if the focus must not move. */
  #wanted: Place | null = null
  readonly #stop = new AbortController()
  /** The labels of the speakers. The speaker who talks most is the first. */
  readonly #speakers: string[]

  constructor(
    readonly job: WholeJob,
    readonly result: Result,
  ) {
    this.player = new Player(result.duration_seconds, `/v1/transcribe/${job.id}/audio`, seconds =>
      this.#show(seconds),
    )
    this.#speakers = talkTimes(result.utterances).map(({ speaker }) => speaker)
    this.edits = new Edits({ id: job.id, tag: job.tag }, result, {
      onText: (utterance, value) => this.view?.write(utterance, value),
      onWords: () => this.#reindex(),
      onNames: () => this.view?.rename(),
      onReverted: utterance => this.#showReverted(utterance),
    })
  }

  /**
   * Returns the number of the colour for a speaker, from 0 to 7. The eight speakers who talk most have different
   * colours.
   */
  colourOf(speaker: string): number {
    return Math.max(0, this.#speakers.indexOf(speaker)) % colours
  }

  get speakerCount(): number {
    return this.#speakers.length
  }

  /** Returns the name that the page shows for the label of a speaker. */
  nameOf(speaker: string): string {
    return showSpeaker(this.edits.nameOf(speaker))
  }

  open(container: HTMLElement): void {
    this.view = new TranscriptView(container, this.result.utterances, {
      language: this.result.language,
      nameOf: speaker => this.nameOf(speaker),
      colourOf: speaker => this.colourOf(speaker),
      follows: () => this.following.isOn.peek(),
      onSpoken: sentence => this.following.speak(sentence),
    })
    this.edits.open()
    // The page scrolls with the spoken words until the person scrolls. `leave` then ends the automatic scrolling.
    const leave = (event: Event) => {
      if (event instanceof KeyboardEvent && !/^(Arrow(Up|Down)|Page|Home|End)/.test(event.key)) return
      this.following.set(false)
    }
    const { signal } = this.#stop
    container.addEventListener('click', event => this.click(event), { signal })
    for (const name of ['wheel', 'touchmove', 'keydown']) {
      addEventListener(name, leave, { signal, passive: true })
    }
  }

  close(): void {
    this.#stop.abort()
    this.following.close()
    this.edits.saving.close()
    this.view?.close()
    this.view = null
  }

  /** Seeks to a time in the recording, and scrolls to the utterance at this time. Does nothing for null. */
  goTo(seconds: number | null): void {
    if (seconds === null) return
    this.following.set(true)
    this.player.seek(seconds)
    const word = this.view?.show(seconds) ?? -1
    const place = this.view?.placeOf(word)
    if (place) this.view?.reveal(place.utterance)
  }

  /**
   * Scrolls to the utterance at the position of the player, and focuses it. The button that the person has pressed for
   * this disappears, so the focus must move to another element.
   */
  follow(): void {
    this.goTo(this.player.position)
    this.view?.focusSpoken()
  }

  /**
   * Handles a click in the text. A click on a time, or on a word while editing is off, plays the recording from there.
   * A click on a speaker's name lets the person change it. A click that ends a selection does not play a word.
   */
  click(event: MouseEvent): void {
    if (!(event.target instanceof Element) || !this.view) return
    const time = event.target.closest<HTMLElement>('.time')
    if (time) this.playFrom(Number(time.dataset.seconds))
    const name = event.target.closest<HTMLElement>('.name')
    if (name) this.renaming.value = name.dataset.label ?? null
    if (time || this.edits.isEditing.value || getSelection()?.isCollapsed === false) return
    if (!event.target.closest('.utterance')) return
    const word = this.view.wordAtPoint(event.clientX, event.clientY)
    if (word !== null) this.playFrom(this.view.index.starts[word] ?? 0)
  }

  playFrom(seconds: number): void {
    this.following.set(true)
    this.player.seek(seconds)
    void this.player.play()
  }

  toggleEditing(): void {
    this.edits.setEditing(!this.edits.isEditing.value)
  }

  /**
   * Starts editing, and puts the caret into the sentence that `utteranceInView` returns: the one with the focus, the
   * one at the position of the player, or one in the middle of the window. If this sentence has the focus and a caret,
   * the caret stays where it is. Otherwise, the caret is before the word at the position of the player. If that word is
   * in another sentence, the caret is at the start.
   */
  editHere(): void {
    const { view } = this
    if (!view) return
    const utterance = view.utteranceInView()
    const spoken = view.placeOf(view.show(this.player.position))
    const from = spoken?.utterance === utterance ? spoken.from : 0
    const span = view.spans[utterance]
    const hasCaret = span === document.activeElement && span?.contains(getSelection()?.anchorNode ?? null)
    this.#wanted = hasCaret ? null : { utterance, from, to: from }
    this.edits.setEditing(true)
  }

  /** Moves the focus to the place that `editHere` has chosen. */
  focusWanted(): void {
    if (this.#wanted) this.editPlace(this.#wanted)
    this.#wanted = null
  }

  /**
   * Opens or closes the search bar. Opening it closes the bar for doubtful words, which has the same place on the page.
   */
  setFinding(isFinding: boolean): void {
    if (isFinding) this.setDoubt(false)
    if (isFinding) this.finds.value += 1
    this.isFinding.value = isFinding
  }

  setDoubt(isShown: boolean): void {
    if (isShown) this.setFinding(false)
    this.doubt.isShown.value = isShown
    this.doubt.mark(this.view)
  }

  /** Highlights a place in the text and scrolls to this place. If `place` is undefined, removes the highlight. */
  showPlace(place: Place | undefined): void {
    this.view?.light('current', place ? [place] : [])
    if (!place) return
    this.following.set(false)
    this.view?.reveal(place.utterance)
  }

  /** While the person edits, selects the text at a place, so that typing replaces this text. */
  editPlace(place: Place | undefined): void {
    const span = place && this.view?.spans[place.utterance]
    if (!place || !span || !this.view || !this.edits.isEditing.value) return
    const { startContainer, startOffset, endOffset } = this.view.rangeOf(place)
    span.focus({ preventScroll: true })
    getSelection()?.setBaseAndExtent(startContainer, startOffset, startContainer, endOffset)
  }

  /**
   * Ends editing if it is on. Otherwise closes the search bar if it is open. Otherwise removes the marks of doubtful
   * words.
   */
  leave(): void {
    if (this.edits.isEditing.value) this.edits.setEditing(false)
    else if (this.isFinding.value) this.setFinding(false)
    else this.setDoubt(false)
  }

  #show(seconds: number): void {
    this.onTime(seconds)
    this.view?.show(seconds)
    if (this.view) this.player.skipSilence(this.view.index.times)
  }

  /** Scrolls to an utterance that an undo or a redo has changed, unless the person is typing in it. */
  #showReverted(utterance: number): void {
    if (!this.view || this.view.spans[utterance] === document.activeElement) return
    this.following.set(false)
    this.view.reveal(utterance, { calmly: true })
  }

  #reindex(): void {
    this.view?.reindex()
    if (this.doubt.isShown.value) this.doubt.mark(this.view)
  }
}

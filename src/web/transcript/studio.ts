// The state that all components of the transcript page share: the text, the player, the edits, and which tools are
// open.

import { signal } from '@preact/signals'
import { showClock, showSpeaker } from '../base/format.ts'
import { tell, tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { type Result, separatorOf } from './document.ts'
import { Edits } from './edits.ts'
import type { WholeJob } from './job-head.tsx'
import type { Passage } from './passage.ts'
import { Player } from './player.ts'
import { talkTimes, turnsOf } from './turns.ts'
import { type Place, TranscriptView } from './view.ts'
import { firstWordOf } from './word-index.ts'

/** A word is marked as doubtful if its confidence is below this value. A confidence is from 0 to 1. */
const doubtBelow = 0.5

/** The number of colours for speakers in the style sheet. */
const colours = 8

export class Studio {
  readonly player: Player
  readonly edits: Edits
  readonly isFollowing = signal(true)
  readonly isFinding = signal(false)
  readonly showsDoubt = signal(false)
  /** The places of the doubtful words in the text. The list is empty while doubtful words are not marked. */
  readonly doubtful = signal<Place[]>([])
  /** False if the sentence that the player is playing is outside the visible part of the page. */
  readonly isSpokenVisible = signal(true)
  /** The passage that the person has selected. Null if nothing is selected. */
  readonly passage = signal<Passage | null>(null)
  /**
   * The label of the speaker whose name the person wants to change. The list of speakers then moves the focus to the
   * field with this name. Null if the person changes no name.
   */
  readonly renaming = signal<string | null>(null)
  readonly dialog = signal<'export' | null>(null)
  /** The address of the subtitle file for the video. Null while the subtitles are off. */
  readonly subtitles = signal<string | null>(null)
  /** Called with the position of the player in seconds: at each frame while it plays, and after each seek. */
  onTime: (seconds: number) => void = () => {}
  view: TranscriptView | null = null
  readonly #stop = new AbortController()
  /**
   * Observes whether the sentence that the player is playing is visible. The margins exclude the areas of the window
   * that the header and the player cover.
   */
  readonly #watcher = new IntersectionObserver(
    entries => (this.isSpokenVisible.value = entries.at(-1)?.isIntersecting ?? true),
    { rootMargin: '-56px 0px -112px' },
  )
  /** The element of the utterance that the player is playing. Null before the first utterance. */
  #sentence: HTMLElement | null = null
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
      onSpoken: sentence => {
        this.#sentence = sentence
        if (!this.isFollowing.value) this.#watchSentence()
      },
    })
    this.edits.saving.open()
    // The page scrolls with the spoken words until the person scrolls. `leave` then ends the automatic scrolling.
    const leave = (event: Event) => {
      if (event instanceof KeyboardEvent && !/^(Arrow(Up|Down)|Page|Home|End)/.test(event.key)) return
      this.#setFollowing(false)
    }
    const { signal } = this.#stop
    container.addEventListener('click', event => this.click(event), { signal })
    for (const name of ['wheel', 'touchmove', 'keydown']) {
      addEventListener(name, leave, { signal, passive: true })
    }
  }

  close(): void {
    this.#stop.abort()
    this.#watcher.disconnect()
    this.edits.saving.close()
    this.view?.close()
  }

  /**
   * Seeks to a time in the recording, and scrolls to the word that is spoken at this time. If `seconds` is null, does
   * nothing.
   */
  goTo(seconds: number | null): void {
    if (seconds === null) return
    this.#setFollowing(true)
    this.player.seek(seconds)
    const word = this.view?.show(seconds) ?? -1
    const place = this.view?.placeOf(word)
    if (place) this.view?.reveal(place.utterance)
  }

  follow(): void {
    this.goTo(this.player.position)
  }

  /**
   * Handles a click in the text. A click on a word or on a time plays the recording from there. A click on the name of
   * a speaker lets the person change the name. If the person has just selected a text with the mouse, the click at the
   * end of the selection does not play the word.
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
    this.#setFollowing(true)
    this.player.seek(seconds)
    void this.player.play()
  }

  toggleEditing(): void {
    this.edits.setEditing(!this.edits.isEditing.value)
  }

  /**
   * Opens or closes the search bar. The search bar and the bar for doubtful words have the same place on the page, so
   * opening the search bar closes the bar for doubtful words.
   */
  setFinding(isFinding: boolean): void {
    if (isFinding) this.setDoubt(false)
    this.isFinding.value = isFinding
  }

  setDoubt(isShown: boolean): void {
    if (isShown) this.setFinding(false)
    this.showsDoubt.value = isShown
    this.#markDoubt()
  }

  /** Highlights a place in the text and scrolls to this place. If `place` is undefined, removes the highlight. */
  showPlace(place: Place | undefined): void {
    this.view?.light('current', place ? [place] : [])
    if (!place) return
    this.#setFollowing(false)
    this.view?.reveal(place.utterance)
  }

  /**
   * Ends one mode of the page. If the person is editing, ends the editing. Otherwise closes the search bar if it is
   * open. Otherwise removes the marks of doubtful words.
   */
  leave(): void {
    if (this.edits.isEditing.value) this.edits.setEditing(false)
    else if (this.isFinding.value) this.setFinding(false)
    else this.setDoubt(false)
  }

  copyLink(seconds: number): void {
    const address = new URL(location.href)
    address.hash = `t=${seconds.toFixed(1)}`
    copy(address.href, words.transcript.linkCopied(showClock(seconds)))
  }

  copyText(options: { withTimes: boolean }): void {
    copy(this.textOf(0, this.result.utterances.length, options), words.transcript.textCopied)
  }

  /**
   * Returns the text of the utterances from the index `first` to the index before `last`. Each turn of a speaker is a
   * paragraph.
   */
  textOf(first: number, last: number, { withTimes }: { withTimes: boolean }): string {
    const { utterances } = this.result
    return turnsOf(utterances.slice(first, last))
      .map(turn => {
        const said = utterances.slice(first + turn.first, first + turn.last)
        const time = withTimes ? `[${showClock(said[0]?.start ?? 0)}] ` : ''
        const name = turn.speaker === null ? '' : `${this.nameOf(turn.speaker)}: `
        return `${time}${name}${said.map(({ text }) => text).join(separatorOf(this.result.language))}`
      })
      .join('\n\n')
  }

  #show(seconds: number): void {
    this.onTime(seconds)
    const word = this.view?.show(seconds)
    if (word !== undefined && this.view) this.player.skipSilence(this.view.index, word)
  }

  /**
   * Observes the element of the sentence that the player is playing. It is called only while the page does not scroll
   * with the spoken words: while the page scrolls with them, this sentence is always visible.
   */
  #watchSentence(): void {
    this.#watcher.disconnect()
    if (this.#sentence) this.#watcher.observe(this.#sentence)
  }

  #setFollowing(follows: boolean): void {
    if (this.view) this.view.follows = follows
    if (follows) this.#watcher.disconnect()
    else if (this.isFollowing.value) this.#watchSentence()
    this.isFollowing.value = follows
  }

  #reindex(): void {
    this.view?.reindex()
    if (this.showsDoubt.value) this.#markDoubt()
  }

  #markDoubt(): void {
    this.doubtful.value = this.showsDoubt.value ? this.#doubtfulPlaces() : []
    this.view?.light('doubt', this.doubtful.value)
  }

  #doubtfulPlaces(): Place[] {
    const index = this.view?.index
    if (!index) return []
    return [...index.confidence.keys()]
      .filter(word => (index.confidence[word] ?? 1) < doubtBelow)
      .flatMap(word => this.view?.placeOf(word) ?? [])
  }

  /**
   * Returns the time in seconds at which the first word of an utterance begins. `utterance` is the index of the
   * utterance.
   */
  startOf(utterance: number): number {
    const index = this.view?.index
    return index?.starts[firstWordOf(index, utterance)] ?? this.result.utterances[utterance]?.start ?? 0
  }
}

export function copy(value: string, message: string): void {
  // `navigator.clipboard` is missing on a page that has neither https nor the host localhost. Even if it exists, the
  // browser may refuse to copy.
  const copied = navigator.clipboard?.writeText(value) ?? Promise.reject()
  copied.then(
    () => tell(message),
    () => tellFault(words.transcript.noClipboard),
  )
}

/** Saves a text as a file on the computer of the person. */
export function saveFile(name: string, content: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([content], { type: 'text/plain' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

// The state that all components of the transcript page share: the text, the player, the edits and the switches.

import { signal } from '@preact/signals'
import { showClock, showSpeaker } from '../base/format.ts'
import { tell, tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { firstWordOf, type Result, separatorOf, talkTimes, turnsOf } from './document.ts'
import { Edits } from './edits.ts'
import type { WholeJob } from './job-head.tsx'
import type { Passage } from './passage.ts'
import { Player } from './player.ts'
import { type Place, TranscriptView } from './view.ts'

/** A word with a lower confidence than this is marked as doubtful. */
const doubtBelow = 0.5

/** The number of colours of speakers in the style sheet. */
const colours = 8

export class Studio {
  readonly player: Player
  readonly edits: Edits
  readonly isFollowing = signal(true)
  readonly isFinding = signal(false)
  readonly showsDoubt = signal(false)
  /** The places of the doubtful words. Empty if they are not marked. */
  readonly doubtful = signal<Place[]>([])
  /** False if the sentence that is being spoken is outside the window. */
  readonly isSpokenVisible = signal(true)
  /** The passage that the reader has selected. */
  readonly passage = signal<Passage | null>(null)
  /**
   * The label of the speaker whose name a person wants to change. The list of speakers then sets the focus to the
   * field of this name.
   */
  readonly renaming = signal<string | null>(null)
  readonly dialog = signal<'export' | null>(null)
  /** The address of the subtitle file for the video. Null when the subtitles are off. */
  readonly subtitles = signal<string | null>(null)
  /** Called with the position in seconds: at each frame of the playback, and after each seek. */
  onTime: (seconds: number) => void = () => {}
  view: TranscriptView | null = null
  readonly #stop = new AbortController()
  /**
   * Observes whether the sentence that is being spoken is visible. The margins are the areas below the header and the
   * player.
   */
  readonly #watcher = new IntersectionObserver(
    entries => (this.isSpokenVisible.value = entries.at(-1)?.isIntersecting ?? true),
    { rootMargin: '-56px 0px -112px' },
  )
  /** The element of the utterance that is spoken. */
  #sentence: HTMLElement | null = null
  /** The speakers. The speaker who talks most is first. */
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
   * Returns the number of a speaker's colour, from 0 to 7. The eight speakers who talk most all have different
   * colours.
   */
  colourOf(speaker: string): number {
    return Math.max(0, this.#speakers.indexOf(speaker)) % colours
  }

  get speakerCount(): number {
    return this.#speakers.length
  }

  /** Returns the name of a speaker as the page shows it. */
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
    this.edits.open()
    // The page scrolls along with the spoken words, until the reader scrolls.
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
    this.edits.close()
    this.view?.close()
  }

  /** Seeks to a time and scrolls to the word at that time. */
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
   * Plays from the clicked word, or lets the person rename the clicked speaker. A click at the end of selecting text
   * is ignored.
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
   * Opens or closes the search field. It has the same place on the page as the bar of doubtful words, so only one of
   * the two is open.
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

  /** Highlights a place as the current one, and scrolls to it. If `place` is undefined, removes the highlight. */
  showPlace(place: Place | undefined): void {
    this.view?.light('current', place ? [place] : [])
    if (!place) return
    this.#setFollowing(false)
    this.view?.reveal(place.utterance)
  }

  /** Ends one mode of the page: editing, or else the search, or else the marks of doubtful words. */
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

  /** Returns the text of the utterances from `first` to before `last`, with one paragraph for each turn. */
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

  /** While the page scrolls along, the spoken sentence is always visible, so it need not be observed. */
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

  /** Returns the start of the first word of an utterance, in seconds. */
  startOf(utterance: number): number {
    const index = this.view?.index
    return index?.starts[firstWordOf(index, utterance)] ?? this.result.utterances[utterance]?.start ?? 0
  }
}

export function copy(value: string, message: string): void {
  // `navigator.clipboard` exists only on a page with https or from localhost, and the browser may still refuse to
  // copy.
  const copied = navigator.clipboard?.writeText(value) ?? Promise.reject()
  copied.then(
    () => tell(message),
    () => tellFault(words.transcript.noClipboard),
  )
}

/** Saves a text as a file on the reader's computer. */
export function saveFile(name: string, content: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([content], { type: 'text/plain' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

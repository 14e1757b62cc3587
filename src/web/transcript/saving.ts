// Saves the edited texts of a transcript on the server, some time after the last keystroke. Finds conflicts with edits
// of other people. The browser also stores unsaved edits, in case of a reload or a crash.

import { signal } from '@preact/signals'
import { Fault, messageOf } from '../base/fault.ts'
import { timing } from '../base/timing.ts'
import { unfinished } from '../base/unfinished.ts'
import type { Result, Utterance } from './document.ts'
import { storeDrafts, storedDrafts } from './drafts.ts'
import { type EditRequests, isOutdated, isRefused, type Saved, type Sent } from './edit-requests.ts'

/** A conflict: this page changed an utterance to the text `mine`, but another person changed it to `theirs`. */
export type Conflict = { utterance: number; mine: string; theirs: Utterance }

/** The new text of an utterance. */
type Text = { utterance: number; text: string }

export type SaveState = 'saved' | 'waiting' | 'saving' | 'failed'

/** The maximum number of utterances that one request saves. The API allows 1000. */
const sentAtOnce = 100

export type TextListeners = {
  /** Called when the text of an utterance changes although no person types it, for example by an undo. */
  onText: (utterance: number, text: string) => void
  /** Called when the text of another person has replaced the text of an utterance. */
  onTheirs: (utterance: number) => void
  /**
   * Called when the index of the words must be built again: after the page has taken utterances from the server, after
   * `open` has restored texts, and at the end of `show`.
   */
  onWords: () => void
  /** Called when the page has read the transcript again, with the utterances of the server. */
  onRead: (utterances: readonly Utterance[]) => void
}

export class Saving {
  readonly state = signal<SaveState>('saved')
  readonly fault = signal('')
  /** The index of an utterance whose text the server refused. Null if there is none. */
  readonly refused = signal<number | null>(null)
  readonly conflicts = signal<Conflict[]>([])
  /**
   * The number of times that texts have changed. The texts are not signals, so a signal computed from them must read
   * this number too.
   */
  readonly textChanges = signal(0)
  /** The server's text of each utterance with an unsaved edit. */
  readonly #unsaved = new Map<number, string>()
  /**
   * The texts that the server has refused, for example because they are too long. The key is the index of the
   * utterance.
   */
  readonly #refused = new Map<number, string>()
  /** The utterances whose edits this page has stored in the browser's storage or read from it. */
  #kept: ReadonlySet<number> = new Set()
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | null = null

  constructor(
    readonly jobId: string,
    readonly result: Result,
    readonly requests: EditRequests,
    readonly listeners: TextListeners,
  ) {}

  /**
   * Restores unsaved edits of an earlier visit from the browser's storage. Adds a conflict if the text on the server
   * has changed since that visit, and is not the text of the edit.
   */
  open(): void {
    const conflicts: Conflict[] = []
    const drafts = storedDrafts(this.jobId)
    this.#kept = new Set(drafts.map(({ utterance }) => utterance))
    for (const { utterance, text, was } of drafts) {
      const known = this.result.utterances[utterance]
      if (known === undefined || known.text === text) continue
      if (known.text !== was) conflicts.push({ utterance, mine: text, theirs: { ...known } })
      this.#unsaved.set(utterance, was)
      this.#put(utterance, { text })
      this.listeners.onText(utterance, text)
    }
    this.textChanges.value += 1
    this.conflicts.value = conflicts
    this.#keep()
    if (this.#unsaved.size > 0) {
      this.listeners.onWords()
      this.#plan()
    }
    addEventListener('pagehide', this.#leave)
    unfinished.add(this.#finish)
  }

  close(): void {
    removeEventListener('pagehide', this.#leave)
    unfinished.delete(this.#finish)
    this.#leave()
  }

  /** Returns the displayed text of an utterance, including unsaved edits. */
  textOf(utterance: number): string {
    return this.result.utterances[utterance]?.text ?? ''
  }

  /** Changes the text of an utterance, and saves it later. */
  set(utterance: number, text: string): void {
    this.#set([{ utterance, text }])
  }

  /** Changes texts of utterances, and shows them on the page. For changes without typing, such as an undo. */
  show(texts: readonly Text[]): void {
    this.#set(texts)
    for (const { utterance, text } of texts) this.listeners.onText(utterance, text)
    this.listeners.onWords()
  }

  /**
   * Ends a conflict. `keeps` chooses the text that remains: the text of this page (`mine`), or the text of the server
   * (`theirs`).
   */
  settle({ utterance, mine, theirs }: Conflict, keeps: 'mine' | 'theirs'): void {
    this.conflicts.value = this.conflicts.value.filter(conflict => conflict.utterance !== utterance)
    this.#unsaved.set(utterance, theirs.text)
    if (keeps === 'theirs') this.#takeOver(utterance, theirs)
    this.show([{ utterance, text: keeps === 'mine' ? mine : theirs.text }])
  }

  /** Waits until the running request has ended. */
  async idle(): Promise<void> {
    await this.#running
  }

  /**
   * Sends up to `sentAtOnce` unsaved edits to the server, without the usual delay. If there are more, the next request
   * follows automatically. Edits in a conflict, and texts that the server has refused, are not sent.
   */
  async save(): Promise<void> {
    clearTimeout(this.#timer)
    // Several callers may wait for the same request. The first one sends the next request, and the others then wait for
    // it.
    while (this.#running) await this.#running
    const sent = this.#sendable().slice(0, sentAtOnce)
    if (sent.length === 0) return
    this.state.value = 'saving'
    this.#running = this.#send(sent).finally(() => (this.#running = null))
    return this.#running
  }

  /** Saves all edits that `save` would send, and waits for the end. Throws an error if they cannot be saved. */
  async saveAll(): Promise<void> {
    while (this.#sendable().length > 0) {
      await this.save()
      if (this.fault.value !== '') throw new Error(this.fault.value)
    }
  }

  /** Returns the unsaved edits that are not in a conflict, and whose present text the server has not refused. */
  #sendable(): Sent {
    const inConflict = new Set(this.conflicts.value.map(({ utterance }) => utterance))
    return [...this.#unsaved.keys()]
      .map(index => ({ index, text: this.textOf(index) }))
      .filter(({ index, text }) => !inConflict.has(index) && this.#refused.get(index) !== text)
  }

  async #send(sent: Sent): Promise<void> {
    try {
      this.#take(sent, await this.requests.saveTexts(sent))
    } catch (fault) {
      if (isOutdated(fault)) return this.compare().catch(unread => this.#fail(unread))
      if (isRefused(fault)) return this.#divide(sent)
      this.#fail(fault)
    }
  }

  #fail(fault: unknown): void {
    this.state.value = 'failed'
    this.fault.value = messageOf(fault)
    const isPassing = fault instanceof Fault && (fault.status === 429 || fault.status >= 500)
    if (isPassing) this.#plan(fault.retryAfterMs ?? timing.retryMsMax)
  }

  /**
   * Called after the server has refused a request. The server stores all edits of a request or none. Sending the edits
   * again in smaller requests finds the refused edit.
   */
  async #divide(sent: Sent): Promise<void> {
    const half = Math.ceil(sent.length / 2)
    const [first] = sent
    if (first && sent.length === 1) {
      this.#refused.set(first.index, first.text)
      this.state.value = 'waiting'
      this.#goOn()
    } else {
      await this.#send(sent.slice(0, half))
      // The request above, with the first half of the edits, may have found conflicts with edits of other people. Edits
      // in a conflict are not sent.
      const sendable = new Set(this.#sendable().map(({ index }) => index))
      const rest = sent.slice(half).filter(({ index }) => sendable.has(index))
      if (rest.length > 0) await this.#send(rest)
    }
  }

  /**
   * Copies the saved utterances from the server's response into the transcript, except utterances that were edited
   * again.
   */
  #take(sent: Sent, saved: Saved): void {
    this.fault.value = ''
    for (const { index, text } of sent) {
      if (this.textOf(index) === text) this.#unsaved.delete(index)
      else this.#unsaved.set(index, text)
    }
    for (const { index, ...utterance } of saved) {
      if (!this.#unsaved.has(index)) this.#put(index, utterance)
    }
    this.textChanges.value += 1
    this.listeners.onWords()
    this.#keep()
    this.state.value = 'waiting'
    this.#goOn(sent.length === sentAtOnce ? 0 : timing.saveMs)
  }

  /**
   * Plans the next request if there are edits that the server may accept. Otherwise sets `state`: to `saved`, or to
   * `failed` if the server has refused an edit.
   */
  #goOn(delayMs: number = timing.saveMs): void {
    const refused = [...this.#unsaved.keys()].filter(at => this.#refused.get(at) === this.textOf(at))
    this.refused.value = refused[0] ?? null
    if (this.#unsaved.size === 0) this.fault.value = ''
    if (this.#unsaved.size > refused.length) this.#plan(delayMs)
    else if (this.state.value !== 'saving') this.state.value = refused.length > 0 ? 'failed' : 'saved'
  }

  /**
   * Called when the server refuses an edit because the transcript on the server has changed. Reads the transcript
   * again, and shows the changes of other people. If this page and another person changed an utterance to different
   * texts, adds a conflict.
   */
  async compare(): Promise<void> {
    const { utterances } = await this.requests.read()
    this.listeners.onRead(utterances)
    const conflicts: Conflict[] = []
    utterances.forEach((theirs, utterance) => {
      const mine = this.result.utterances[utterance]
      const was = this.#unsaved.get(utterance)
      if (!mine || was === theirs.text) return
      if (was === undefined || mine.text === theirs.text) this.#takeOver(utterance, theirs)
      else conflicts.push({ utterance, mine: mine.text, theirs })
    })
    this.conflicts.value = conflicts
    this.textChanges.value += 1
    this.listeners.onWords()
    this.state.value = 'waiting'
    this.#goOn()
  }

  /** Replaces an utterance of the page by the utterance of the server, with its words and times. */
  #takeOver(utterance: number, theirs: Utterance): void {
    const before = this.textOf(utterance)
    this.#unsaved.delete(utterance)
    this.#put(utterance, theirs)
    if (before === theirs.text) return
    this.listeners.onText(utterance, theirs.text)
    this.listeners.onTheirs(utterance)
  }

  #set(texts: readonly Text[]): void {
    for (const { utterance, text } of texts) {
      if (!this.#unsaved.has(utterance)) this.#unsaved.set(utterance, this.textOf(utterance))
      this.#put(utterance, { text })
      if (this.#unsaved.get(utterance) === text) this.#unsaved.delete(utterance)
    }
    this.textChanges.value += 1
    this.#keep()
    this.#goOn()
  }

  /**
   * Changes an utterance, but not its `speaker`. This is the label of the speaker in the transcript, and `Edits.names`
   * has the name that people gave to this label. Does not increase `textChanges`: each increase makes the page search
   * the transcript again, so the caller does this once, after all its changes.
   */
  #put(utterance: number, { speaker: _, ...fresh }: Partial<Utterance>): void {
    Object.assign(this.result.utterances[utterance] ?? {}, fresh)
  }

  #plan(delayMs: number = timing.saveMs): void {
    if (this.state.value !== 'saving' && this.state.value !== 'failed') this.state.value = 'waiting'
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.save(), delayMs)
  }

  #keep(): void {
    const drafts = [...this.#unsaved].map(([utterance, was]) => ({
      utterance,
      text: this.textOf(utterance),
      was,
    }))
    storeDrafts(this.jobId, drafts, this.#kept)
    this.#kept = new Set(this.#unsaved.keys())
  }

  /** Saves all edits before the person signs out. An edit that cannot be saved stays in the storage of the browser. */
  readonly #finish = () => this.saveAll().catch(() => {})

  readonly #leave = () => {
    if (this.#unsaved.size > 0) void this.save()
  }
}

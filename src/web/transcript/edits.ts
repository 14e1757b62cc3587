// The edits of a transcript: undo, redo, automatic saving, and conflicts with edits of other people. An edit that the
// server has not saved yet is also stored in the browser, so that a reload or a crash does not lose it.

import { signal } from '@preact/signals'
import { Fault, messageOf } from '../base/fault.ts'
import { askTagged } from '../base/net.ts'
import { forget, store, stored } from '../base/storage.ts'
import { timing } from '../base/timing.ts'
import { tellFault } from '../parts/toast.tsx'
import type { Result, Utterance } from './document.ts'

type Change = { utterance: number; before: string; after: string }
type Rename = { speaker: string; before: string; after: string }
/**
 * All changes that one undo reverts: changes of texts, or the change of one speaker's name. `isTyped` is true if the
 * person typed these changes.
 */
type Step = { changes: Change[]; rename?: Rename; at: number; isTyped: boolean }

/**
 * A conflict: the text of an utterance was changed on this page (`mine`), and differently by another person on the
 * server (`theirs`).
 */
export type Conflict = { utterance: number; mine: string; theirs: string }

export type SaveState = 'saved' | 'waiting' | 'saving' | 'failed'

/** The maximum number of utterances that one request saves. The API refuses more. */
const sentAtOnce = 100

type Listeners = {
  /** Called when the text of an utterance changes although no person types it, for example by an undo. */
  onText: (utterance: number, text: string) => void
  /** Called when the times of words or their positions in the text may have changed. */
  onWords: () => void
  onNames: () => void
}

/**
 * The response to an edit: the changed utterances, with the words and times that the server has computed for the new
 * text.
 */
type Saved = { utterances: ({ index: number } & Utterance)[] }

type Sent = { index: number; text: string }[]

export class Edits {
  readonly isEditing = signal(false)
  readonly state = signal<SaveState>('saved')
  readonly fault = signal('')
  readonly canUndo = signal(false)
  readonly canRedo = signal(false)
  readonly conflicts = signal<Conflict[]>([])
  /** The names that people gave to the speakers. The key is the speaker's label in the transcript. */
  readonly names = signal<Record<string, string>>({})
  readonly #undo: Step[] = []
  readonly #redo: Step[] = []
  /** For each utterance with an unsaved edit: the text of this utterance on the server. */
  readonly #unsaved = new Map<number, string>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #saving: Promise<void> | null = null

  /**
   * The ETag of the transcript to which the edits apply. If the transcript on the server has another ETag, the server
   * refuses an edit.
   */
  #tag: string | null
  readonly jobId: string

  constructor(
    { id, tag }: { id: string; tag: string | null },
    readonly result: Result,
    readonly listeners: Listeners,
  ) {
    this.jobId = id
    this.#tag = tag
  }

  /** Restores the unsaved edits of an earlier visit to the page. They are stored in the browser. */
  open(): void {
    const kept = stored<Record<string, { text: string; was: string }>>(this.#draftName) ?? {}
    for (const [name, { text, was }] of Object.entries(kept)) {
      const utterance = Number(name)
      if (this.textOf(utterance) === text || this.result.utterances[utterance] === undefined) continue
      this.#unsaved.set(utterance, was)
      this.#put(utterance, text)
      this.listeners.onText(utterance, text)
    }
    if (this.#unsaved.size > 0) this.#plan()
    addEventListener('pagehide', this.#leave)
  }

  close(): void {
    removeEventListener('pagehide', this.#leave)
    this.#leave()
  }

  setEditing(isEditing: boolean): void {
    this.isEditing.value = isEditing
  }

  /** Returns the name that people gave to the speaker. If the speaker has no name, returns the speaker's label. */
  nameOf(speaker: string): string {
    return this.names.value[speaker] ?? speaker
  }

  /**
   * Records the text that the person has typed into an utterance. Keystrokes within `timing.undoStepMs` of each other
   * are one undo step.
   */
  type(utterance: number, text: string): void {
    const before = this.textOf(utterance)
    if (text === before) return
    const last = this.#undo.at(-1)
    const isSameStep =
      last?.isTyped && last.changes[0]?.utterance === utterance && Date.now() - last.at < timing.undoStepMs
    if (isSameStep && last.changes[0]) {
      last.changes[0].after = text
      last.at = Date.now()
    } else {
      this.#push({ changes: [{ utterance, before, after: text }], at: Date.now(), isTyped: true })
    }
    this.#set(utterance, text)
  }

  /** Changes the texts of several utterances. All these changes are one undo step. */
  replace(texts: readonly { utterance: number; text: string }[]): void {
    const changes = texts.map(({ utterance, text }) => ({
      utterance,
      before: this.textOf(utterance),
      after: text,
    }))
    this.#push({ changes, at: Date.now(), isTyped: false })
    for (const { utterance, after } of changes) this.#show(utterance, after)
  }

  undo(): void {
    const step = this.#undo.pop()
    if (!step) return
    this.#redo.push(step)
    for (const { utterance, before } of step.changes.toReversed()) this.#show(utterance, before)
    if (step.rename) this.#setName(step.rename.speaker, step.rename.before).catch(tellFault)
    this.#tellSteps()
  }

  redo(): void {
    const step = this.#redo.pop()
    if (!step) return
    this.#undo.push(step)
    for (const { utterance, after } of step.changes) this.#show(utterance, after)
    if (step.rename) this.#setName(step.rename.speaker, step.rename.after).catch(tellFault)
    this.#tellSteps()
  }

  /** Changes the name of a speaker. The new name applies to the whole transcript. */
  async rename(speaker: string, name: string): Promise<void> {
    const before = this.nameOf(speaker)
    await this.#setName(speaker, name)
    this.#push({ changes: [], rename: { speaker, before, after: name }, at: Date.now(), isTyped: false })
  }

  async #setName(speaker: string, name: string): Promise<void> {
    await this.#saving
    const body = { speakers: { [this.nameOf(speaker)]: name } }
    const send = () => askTagged('PATCH', this.#address, { body, ifMatch: this.#tag })
    const { tag } = await send().catch(async fault => {
      if (!(fault instanceof Fault) || fault.status !== 412) throw fault
      await this.#compare()
      return send()
    })
    this.#tag = tag
    this.names.value = { ...this.names.value, [speaker]: name }
    this.listeners.onNames()
  }

  /**
   * Ends a conflict. `keeps` chooses the text that remains: the text of this page (`mine`), or the text of the server
   * (`theirs`).
   */
  settle({ utterance, mine, theirs }: Conflict, keeps: 'mine' | 'theirs'): void {
    this.conflicts.value = this.conflicts.value.filter(conflict => conflict.utterance !== utterance)
    this.#unsaved.set(utterance, theirs)
    this.#show(utterance, keeps === 'mine' ? mine : theirs)
  }

  /** Sends all unsaved edits to the server at once, except edits of utterances in a conflict. */
  async save(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#saving
    const inConflict = new Set(this.conflicts.value.map(({ utterance }) => utterance))
    const sent = [...this.#unsaved.keys()]
      .filter(utterance => !inConflict.has(utterance))
      .map(index => ({ index, text: this.textOf(index) }))
    if (sent.length === 0) return
    this.state.value = 'saving'
    this.#saving = this.#send(sent.slice(0, sentAtOnce)).finally(() => (this.#saving = null))
    return this.#saving
  }

  async #send(sent: Sent): Promise<void> {
    try {
      const { answer, tag } = await askTagged<Saved>('PATCH', this.#address, {
        body: { utterances: sent },
        ifMatch: this.#tag,
      })
      this.#tag = tag
      this.#take(sent, answer)
    } catch (fault) {
      if (fault instanceof Fault && fault.status === 412) return this.#compare()
      this.state.value = 'failed'
      this.fault.value = messageOf(fault)
      const isPassing = fault instanceof Fault && (fault.status === 429 || fault.status >= 500)
      if (isPassing) this.#plan(fault.retryAfterMs ?? timing.retryMsMax)
    }
  }

  /** Copies the words and times of the saved utterances from the server's response into the transcript. */
  #take(sent: Sent, { utterances }: Saved): void {
    this.fault.value = ''
    for (const { index, text } of sent) {
      if (this.textOf(index) === text) this.#unsaved.delete(index)
      else this.#unsaved.set(index, text)
    }
    for (const { index, ...utterance } of utterances) {
      const known = this.result.utterances[index]
      if (known && !this.#unsaved.has(index)) Object.assign(known, utterance)
    }
    this.listeners.onWords()
    this.#keep()
    this.state.value = this.#unsaved.size > 0 ? 'waiting' : 'saved'
    if (this.#unsaved.size > 0) this.#plan()
  }

  /**
   * Reads the transcript again after the server has refused an edit because of another ETag. Applies the changes of
   * other people to the page. If an utterance was also changed on this page, it becomes a conflict.
   */
  async #compare(): Promise<void> {
    const { answer, tag } = await askTagged<{ result: Result }>('GET', this.#address)
    this.#tag = tag
    answer.result.utterances.forEach((theirs, utterance) => {
      const mine = this.result.utterances[utterance]
      const was = this.#unsaved.get(utterance)
      if (!mine) return
      if (was === undefined && mine.text !== theirs.text) {
        Object.assign(mine, theirs)
        this.listeners.onText(utterance, theirs.text)
      }
      if (was === undefined || was === theirs.text) return
      if (mine.text === theirs.text) this.#unsaved.delete(utterance)
      else
        this.conflicts.value = [...this.conflicts.value, { utterance, mine: mine.text, theirs: theirs.text }]
    })
    this.listeners.onWords()
    this.state.value = 'waiting'
    this.#plan()
  }

  #show(utterance: number, text: string): void {
    this.#set(utterance, text)
    this.listeners.onText(utterance, text)
  }

  #set(utterance: number, text: string): void {
    if (!this.#unsaved.has(utterance)) this.#unsaved.set(utterance, this.textOf(utterance))
    this.#put(utterance, text)
    if (this.#unsaved.get(utterance) === text) this.#unsaved.delete(utterance)
    this.#keep()
    if (this.#unsaved.size === 0 && !this.#saving) this.state.value = 'saved'
    else this.#plan()
  }

  #put(utterance: number, text: string): void {
    const known = this.result.utterances[utterance]
    if (known) known.text = text
  }

  #plan(delayMs: number = timing.saveMs): void {
    if (this.state.value !== 'saving' && this.state.value !== 'failed') this.state.value = 'waiting'
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.save(), delayMs)
  }

  #push(step: Step): void {
    this.#undo.push(step)
    this.#redo.length = 0
    this.#tellSteps()
  }

  #tellSteps(): void {
    this.canUndo.value = this.#undo.length > 0
    this.canRedo.value = this.#redo.length > 0
  }

  /** Returns the present text of an utterance, with all edits of this page. */
  textOf(utterance: number): string {
    return this.result.utterances[utterance]?.text ?? ''
  }

  /** Stores the unsaved edits in the browser. If there are none, deletes the stored edits. */
  #keep(): void {
    if (this.#unsaved.size === 0) {
      forget(this.#draftName)
      return
    }
    const drafts = [...this.#unsaved].map(([utterance, was]) => [
      utterance,
      { text: this.textOf(utterance), was },
    ])
    store(this.#draftName, Object.fromEntries(drafts))
  }

  get #address(): string {
    return `/v1/transcribe/${this.jobId}`
  }

  get #draftName(): string {
    return `edits.${this.jobId}`
  }

  readonly #leave = () => {
    if (this.#unsaved.size > 0) void this.save()
  }
}

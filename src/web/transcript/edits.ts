// The edits of a transcript: typed text, replaced text and names of speakers. An edit can be undone and redone until
// another person changes the same text or name.

import { signal } from '@preact/signals'
import { tellFault } from '../parts/toast.tsx'
import type { Result, Utterance } from './document.ts'
import { forgetName, storedNames, storeName } from './drafts.ts'
import { EditHistory, type Step } from './edit-history.ts'
import { EditRequests, isOutdated } from './edit-requests.ts'
import { Saving, type TextListeners } from './saving.ts'

type Listeners = Omit<TextListeners, 'onRead' | 'onTheirs'> & {
  /** Called when the names of speakers may have changed. */
  onNames: () => void
  /** Called with the first utterance that an undo or a redo has changed. */
  onReverted: (utterance: number) => void
}

export class Edits {
  readonly isEditing = signal(false)
  readonly history = new EditHistory()
  readonly saving: Saving
  /** The names that people gave to the speakers. The key is the speaker's label in the transcript. */
  readonly names = signal<Record<string, string>>({})
  readonly #requests: EditRequests

  constructor(
    job: { id: string; tag: string | null },
    result: Result,
    readonly listeners: Listeners,
  ) {
    this.#requests = new EditRequests(job)
    this.saving = new Saving(job.id, result, this.#requests, {
      ...listeners,
      onRead: utterances => this.#takeNames(utterances),
      onTheirs: utterance => this.history.forgetText(utterance),
    })
  }

  /** Restores the unsaved texts and names of an earlier visit. */
  open(): void {
    this.saving.open()
    for (const [before, after] of Object.entries(storedNames(this.saving.jobId))) {
      const speaker = this.saving.result.speakers?.find(each => this.nameOf(each) === before)
      if (speaker === undefined) forgetName(this.saving.jobId, { before, after })
      else this.rename(speaker, after).catch(tellFault)
    }
  }

  setEditing(isEditing: boolean): void {
    this.isEditing.value = isEditing
  }

  /** Returns the name that people gave to the speaker. If the speaker has no name, returns the speaker's label. */
  nameOf(speaker: string): string {
    return this.names.value[speaker] ?? speaker
  }

  /** Records the text that the person has typed into an utterance. */
  type(utterance: number, text: string): void {
    const before = this.saving.textOf(utterance)
    if (text === before) return
    this.history.addTyped({ utterance, before, after: text })
    this.saving.set(utterance, text)
  }

  /** Changes the texts of several utterances in one undo step, and returns this step. */
  replace(texts: readonly { utterance: number; text: string }[]): Step {
    const changes = texts.map(({ utterance, text }) => ({
      utterance,
      before: this.saving.textOf(utterance),
      after: text,
    }))
    const step = this.history.add({ changes })
    this.saving.show(texts)
    return step
  }

  undo(): void {
    const step = this.history.undo()
    if (step) this.#show(step.changes.map(({ utterance, before }) => ({ utterance, text: before })))
    if (step?.rename) this.#revertName(step.rename.speaker, step.rename.before)
  }

  redo(): void {
    const step = this.history.redo()
    if (step) this.#show(step.changes.map(({ utterance, after }) => ({ utterance, text: after })))
    if (step?.rename) this.#revertName(step.rename.speaker, step.rename.after)
  }

  #show(texts: readonly { utterance: number; text: string }[]): void {
    this.saving.show(texts)
    const [first] = texts
    if (first) this.listeners.onReverted(first.utterance)
  }

  /** Changes the name of a speaker. The new name applies to the whole transcript. */
  async rename(speaker: string, name: string): Promise<void> {
    const draft = { before: this.nameOf(speaker), after: name }
    storeName(this.saving.jobId, draft)
    const sent = this.#setName(speaker, name, () => true)
    const before = await sent.finally(() => forgetName(this.saving.jobId, draft))
    this.history.add({ changes: [], rename: { speaker, before, after: name } })
  }

  /**
   * Changes a name for an undo or a redo. Does nothing if another person has changed this name, and this page does not
   * show that change yet.
   */
  #revertName(speaker: string, name: string): void {
    const before = this.nameOf(speaker)
    this.#setName(speaker, name, present => present === before).catch(tellFault)
  }

  /**
   * Returns the name that identifies a speaker in a request to rename this speaker. A request with a present name
   * renames all speakers with this name. A request with the engine's label of a speaker, such as `SPEAKER 1`, renames
   * one speaker. So returns the present name, but if another speaker has the same name, returns the label.
   */
  async #requestName(speaker: string): Promise<string> {
    const name = this.nameOf(speaker)
    const { utterances } = this.saving.result
    const isShared = utterances.some(
      ({ speaker: other }) => other !== null && other !== speaker && this.nameOf(other) === name,
    )
    if (!isShared) return name
    const original = await this.#requests.readOriginal()
    return original.utterances[utterances.findIndex(each => each.speaker === speaker)]?.speaker ?? speaker
  }

  /** Takes over the names that other people gave to the speakers since the page was loaded. */
  #takeNames(utterances: readonly Utterance[]): void {
    const names = { ...this.names.value }
    utterances.forEach(({ speaker: name }, at) => {
      const label = this.saving.result.utterances[at]?.speaker
      if (label == null || name === null) return
      if (name !== this.nameOf(label)) this.history.forgetName(label)
      names[label] = name
    })
    this.names.value = names
    this.listeners.onNames()
  }

  /**
   * Sends a new name of a speaker, and returns the previous name. If the server refuses the request because the
   * transcript has changed, reads the transcript again. The name is then sent once more if `mayReplace` returns true
   * for the speaker's present name.
   */
  async #setName(speaker: string, name: string, mayReplace: (present: string) => boolean): Promise<string> {
    await this.saving.idle()
    const send = async () => this.#requests.saveName(await this.#requestName(speaker), name)
    let before = this.nameOf(speaker)
    try {
      await send()
    } catch (fault) {
      if (!isOutdated(fault)) throw fault
      await this.saving.compare()
      before = this.nameOf(speaker)
      if (!mayReplace(before)) return before
      await send()
    }
    this.names.value = { ...this.names.value, [speaker]: name }
    this.listeners.onNames()
    return before
  }
}

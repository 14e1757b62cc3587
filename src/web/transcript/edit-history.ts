// The steps of editing that can be undone and redone.

import { computed, signal } from '@preact/signals'
import { timing } from '../base/timing.ts'

type Change = { utterance: number; before: string; after: string }
type Rename = { speaker: string; before: string; after: string }
/**
 * All changes that one undo reverts: changes of texts, or of one speaker's name. `isTyped` is true if the person typed
 * them.
 */
export type Step = { changes: Change[]; rename?: Rename; at: number; isTyped: boolean }

export class EditHistory {
  /** The step that the next undo reverts. */
  readonly last = signal<Step | undefined>(undefined)
  readonly canUndo = computed(() => this.last.value !== undefined)
  readonly canRedo = signal(false)
  #undo: Step[] = []
  #redo: Step[] = []

  /** Adds a step, and returns it. After this, a step that was undone earlier cannot be redone. */
  add(step: Pick<Step, 'changes' | 'rename'>): Step {
    const added = { ...step, at: Date.now(), isTyped: false }
    this.#push(added)
    return added
  }

  /**
   * Adds a typed change. Successive changes of the same utterance are one step if less than `timing.undoStepMs` passes
   * between them. If an undone step can be redone, the change starts a new step.
   */
  addTyped(change: Change): void {
    const last = this.#undo.at(-1)
    const [typed] = last?.isTyped ? last.changes : []
    const isNext = typed?.utterance === change.utterance && this.#redo.length === 0
    if (last && typed && isNext && Date.now() - last.at < timing.undoStepMs) {
      typed.after = change.after
      last.at = Date.now()
    } else {
      this.#push({ changes: [change], at: Date.now(), isTyped: true })
    }
  }

  /** Moves the last step to the steps that can be redone. Returns this step, or undefined if there is no step. */
  undo(): Step | undefined {
    return this.#move(this.#undo, this.#redo)
  }

  redo(): Step | undefined {
    return this.#move(this.#redo, this.#undo)
  }

  /**
   * Removes the changes of an utterance from all steps. Must be called after another person has changed the utterance.
   * Otherwise, an undo would overwrite the change of the other person.
   */
  forgetText(utterance: number): void {
    for (const step of [...this.#undo, ...this.#redo])
      step.changes = step.changes.filter(change => change.utterance !== utterance)
    this.#removeEmpty()
  }

  /**
   * Removes the changes of a speaker's name from all steps. Must be called after another person has changed this name.
   * Otherwise, an undo would overwrite the change of the other person.
   */
  forgetName(speaker: string): void {
    for (const step of [...this.#undo, ...this.#redo])
      if (step.rename?.speaker === speaker) delete step.rename
    this.#removeEmpty()
  }

  #removeEmpty(): void {
    const isKept = ({ changes, rename }: Step) => changes.length > 0 || rename !== undefined
    this.#undo = this.#undo.filter(isKept)
    this.#redo = this.#redo.filter(isKept)
    this.#tell()
  }

  #push(step: Step): void {
    this.#undo.push(step)
    this.#redo = []
    this.#tell()
  }

  #move(from: Step[], to: Step[]): Step | undefined {
    const step = from.pop()
    if (step) to.push(step)
    this.#tell()
    return step
  }

  #tell(): void {
    this.last.value = this.#undo.at(-1)
    this.canRedo.value = this.#redo.length > 0
  }
}

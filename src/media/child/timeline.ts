// Where each stretch of sound belongs. Timestamps are believed, but not blindly: small jitter is ignored, a
// small overlap is cut, a gap is silence, and a leap must be confirmed by the stretch that follows it.

import { sampleRate } from '../wire.ts'

/** All in samples of the output rate; fractions are kept so that odd rates do not drift. */
export type Span = { start: number | null; length: number }

/** Silence to write before a span, and how much of its beginning to leave out. */
export type Placement = { silence: number; skip: number }

/** What containers with millisecond clocks or coarse packets are off by without meaning it. */
const jitter = 0.02 * sampleRate
/** A lasting offset above jitter is put right after this much sound … */
const patience = 1 * sampleRate
/** … and one of this size at once. */
const noticeable = 0.1 * sampleRate
/** Beyond this one timestamp alone is not believed. */
const leap = 1 * sampleRate
/** In containers whose clock may restart, a larger step forward is a restart, not a gap. */
const restart = 10 * sampleRate

export class Timeline {
  /** Where the sound so far ends. */
  position = 0
  #offset = 0
  #slipped = 0
  #begun = false
  #continues = false
  #held: { start: number; length: number } | null = null
  readonly #clockRestarts: boolean

  constructor({ clockRestarts }: { clockRestarts: boolean }) {
    this.#clockRestarts = clockRestarts
  }

  /** What comes next follows at once, whatever its clock says. */
  continue(): void {
    this.#continues = true
  }

  /** Null: hold the span back until `settle` has seen where the next one starts. */
  place(span: Span, { exact = false } = {}): Placement | null {
    if (this.#continues && span.start !== null) this.#offset = this.position - span.start
    this.#continues = false
    const drift = span.start === null ? 0 : span.start + this.#offset - this.position
    if (!this.#begun && drift < 0) return this.#cut(span.length, -drift)
    if (Math.abs(drift) > leap) {
      this.#held = { start: span.start!, length: span.length }
      return null
    }
    this.#slipped = Math.abs(drift) > jitter ? this.#slipped + span.length : 0
    if (
      Math.abs(drift) > noticeable ||
      this.#slipped > patience ||
      ((exact || !this.#begun) && Math.abs(drift) > 1)
    ) {
      return drift > 0 ? this.#append(span.length, drift) : this.#cut(span.length, -drift)
    }
    return this.#append(span.length, 0)
  }

  /** The placement of the span held back, once the start of the next is known; null at the end of the file. */
  settle(next: number | null): Placement {
    const { start, length } = this.#held!
    this.#held = null
    const drift = start + this.#offset - this.position
    // A lie is over with the next span; a gap or a clock set back is not, however scattered what follows.
    const lasts = (after: number) =>
      drift > 0 ? after >= start + length - leap : after + this.#offset < this.position - leap
    if (next === null || !lasts(next)) return this.#append(length, 0)
    const restarts = this.#clockRestarts && this.#begun && drift > restart
    if (drift > 0 && !restarts) return this.#append(length, drift)
    this.#offset -= drift
    return this.#append(length, 0)
  }

  get holds(): boolean {
    return this.#held !== null
  }

  #append(length: number, silence: number): Placement {
    this.#begun = true
    if (silence > 0) this.#slipped = 0
    this.position += silence + length
    return { silence, skip: 0 }
  }

  #cut(length: number, overlap: number): Placement {
    const skip = Math.min(length, overlap)
    if (skip < length) this.#begun = true
    this.#slipped = 0
    this.position += length - skip
    return { silence: 0, skip }
  }
}

// Places each span of sound on the timeline. Timestamps may be wrong: small jitter is ignored, a small overlap is cut,
// a gap becomes silence. A jump is accepted only when the next span confirms it.

import { sampleRate } from '../wire.ts'

/** A span in samples of the output rate. Fractions are kept, so that unusual sample rates do not drift. */
export type Span = { start: number | null; length: number }

/** Number of silent samples to write before a span, and number of samples to cut from its beginning. */
export type Placement = { silence: number; skip: number }

/** Smaller offsets come from millisecond clocks and coarse packets. They are ignored. */
const jitter = 0.02 * sampleRate
/** An offset above the jitter is corrected when it lasts for this much sound. */
const patience = 1 * sampleRate
/** An offset above this size is corrected at once. */
const noticeable = 0.1 * sampleRate
/** A jump above this size must be confirmed by the next timestamp. */
const leap = 1 * sampleRate
/** In containers whose clock may restart, a jump forward above this size is a restart, not a gap. */
const restart = 10 * sampleRate

export class Timeline {
  /** The end of the sound so far, in samples. */
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

  /** Makes the next span follow without a gap, whatever its timestamp. */
  continue(): void {
    this.#continues = true
  }

  /**
   * Returns null when the placement depends on the next span. The caller keeps this span until `settle` returns its
   * placement.
   */
  place(span: Span, { exact = false } = {}): Placement | null {
    const { start, length } = span
    if (this.#continues && start !== null) this.#offset = this.position - start
    this.#continues = false
    const drift = start === null ? 0 : start + this.#offset - this.position
    if (!this.#begun && drift < 0) return this.#cut(length, -drift)
    if (start !== null && Math.abs(drift) > leap) {
      this.#held = { start, length }
      return null
    }
    this.#slipped = Math.abs(drift) > jitter ? this.#slipped + length : 0
    if (
      Math.abs(drift) > noticeable ||
      this.#slipped > patience ||
      ((exact || !this.#begun) && Math.abs(drift) > 1)
    ) {
      return drift > 0 ? this.#append(length, drift) : this.#cut(length, -drift)
    }
    return this.#append(length, 0)
  }

  /**
   * Returns the placement of the held span, or null when none is held. `next` is the start of the next span, or null at
   * the end of the file.
   */
  settle(next: number | null): Placement | null {
    if (!this.#held) return null
    const { start, length } = this.#held
    this.#held = null
    const drift = start + this.#offset - this.position
    // A single wrong timestamp does not affect the next span. A real gap, or a clock that was set back, does.
    const lasts = (after: number) =>
      drift > 0 ? after >= start + length - leap : after + this.#offset < this.position - leap
    if (next === null || !lasts(next)) return this.#append(length, 0)
    const restarts = this.#clockRestarts && this.#begun && drift > restart
    if (drift > 0 && !restarts) return this.#append(length, drift)
    this.#offset -= drift
    return this.#append(length, 0)
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

// Places each span of sound on the timeline. Timestamps may be wrong, so a small offset is ignored. An
// overlap is cut, and a gap becomes silence. A large jump is accepted only if the next span confirms the
// jump.

import { sampleRate } from '../wire.ts'

/**
 * The start and the length of a span, in samples at the output rate. `start` is null if the span has no
 * timestamp. Fractions are kept, so that unusual sample rates do not drift.
 */
export type Span = { start: number | null; length: number }

/**
 * `silence` is the number of silent samples to write before a span. `skip` is the number of samples to cut
 * from the beginning of the span.
 */
export type Placement = { silence: number; skip: number }

/**
 * Offsets up to this size are ignored. They come from clocks that count milliseconds, and from coarse
 * timestamps of packets.
 */
const jitter = 0.02 * sampleRate
/** An offset above `jitter` is corrected when it has lasted for this many samples. */
const patience = 1 * sampleRate
/** An offset above this size is corrected at once. */
const noticeable = 0.1 * sampleRate
/** An offset above this size is a jump. The next timestamp must confirm a jump. */
const leap = 1 * sampleRate
/**
 * In containers whose clock may restart, a jump forward that is larger than this is a restart of the clock.
 * A smaller jump forward is a gap.
 */
const restart = 10 * sampleRate

export class Timeline {
  /** The end of the sound that is placed so far, in samples. */
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

  /** Makes the next span follow without a gap. The timestamp of that span is not compared. */
  continue(): void {
    this.#continues = true
  }

  /**
   * Returns the placement of a span. If `exact` is true, small offsets are corrected too. Returns null if
   * the placement depends on the next span; the caller then keeps this span until `settle` returns its
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
   * Returns the placement of the span for which `place` returned null. Returns null if no span waits. `next`
   * is the start of the next span, or null at the end of the file or if the next span has no timestamp.
   */
  settle(next: number | null): Placement | null {
    if (!this.#held) return null
    const { start, length } = this.#held
    this.#held = null
    const drift = start + this.#offset - this.position
    // A single wrong timestamp does not affect the timestamp of the next span. A real gap does affect it,
    // and so does a clock that was set back.
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

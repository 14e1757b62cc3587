// Makes windows of at most 30 s from speech spans. A full window ends at the longest pause in its last third.

import { sampleRate, windowSamples } from '../audio.ts'
import { beginningAt, type SpeechSpan } from './speech-spans.ts'
import { type Window, windowOf } from './windows.ts'

/**
 * The shortest pause, in samples, that always ends a window. Inside a window, steno would shorten such a pause to one
 * second. The model would then join the sentences before and after the pause.
 */
const pauseEnds = 10 * sampleRate

/**
 * Makes windows of at most 30 s of sound from speech spans. A window is complete when no more speech fits, when a pause
 * of `pauseEnds` follows, or when the recording ends.
 */
export class Packer {
  private spans: SpeechSpan[] = []
  private last = 0

  constructor(private readonly samplesMax = windowSamples) {}

  /**
   * The first sample of the collected speech spans, or null if no speech spans are collected. The next window begins at
   * this sample.
   */
  get pending(): number | null {
    return this.spans[0]?.from ?? null
  }

  add(found: SpeechSpan): Window[] {
    const span = beginningAt(found, this.last)
    if (span.to <= span.from) return []
    const full = this.settle(span.from)
    this.last = span.to
    this.spans.push(span)
    while (lengthOf(this.spans) > this.samplesMax) full.push(windowOf(this.spans.splice(0, this.fitting())))
    return full
  }

  /**
   * Ends the window if its last span ends at least `pauseEnds` before `sample`. All later speech must begin at or after
   * `sample`.
   */
  settle(sample: number): Window[] {
    return sample - this.last >= pauseEnds ? this.end() : []
  }

  end(): Window[] {
    return this.spans.length > 0 ? [windowOf(this.spans.splice(0))] : []
  }

  /**
   * Returns the number of collected spans in the next window. The window ends at the longest pause in its last third.
   * Without such a pause, the window ends after the last span that fits.
   */
  private fitting(): number {
    let best = 1
    let bestPause = -1
    for (const [index, span] of this.spans.entries()) {
      const next = this.spans[index + 1]
      const length = lengthOf(this.spans.slice(0, index + 1))
      if (!next || length > this.samplesMax) break
      const inLastThird = length >= (2 / 3) * this.samplesMax
      const pause = inLastThird ? next.from - span.to : -1
      if (pause < bestPause) continue
      best = index + 1
      bestPause = pause
    }
    return best
  }
}

function lengthOf(spans: readonly SpeechSpan[]): number {
  return windowOf(spans).samples
}

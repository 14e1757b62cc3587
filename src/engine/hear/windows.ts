// Makes windows of at most 30 s from speech spans. If more than 30 s of sound are collected, the window ends at the
// longest pause in the last third of the 30 s. A pause of up to two seconds inside a window is kept. A longer pause is
// shortened. So a window consists of one or more pieces of the recording, and stores the place of each piece.

import { sampleRate, samplesPerFrame, windowFrames, windowSamples } from '../audio.ts'
import { beginningAt, endingAt, type Span, type SpeechSpan } from './speech-spans.ts'

/** A piece of a window: a span of the recording whose sound begins at sample `at` of the window. */
export type Piece = Span & { at: number }

/**
 * A window. `from` is the first sample of its first piece, and `to` is the end of its last piece, both in the
 * recording. `samples` is the length of the window's sound. `samples` is less than `to` minus `from` if a pause was
 * shortened.
 */
export type Window = Span & {
  pieces: Piece[]
  samples: number
  /** The speech spans of the window, in samples of the recording. */
  speech: SpeechSpan[]
}

/**
 * The longest pause, in samples, that is not shortened. From a longer pause, `pauseKept` samples remain: one half from
 * its start and one half from its end. The model makes fewer errors with natural pauses. In a test, pauses over one
 * second were shortened to half a second, and the word error rate rose by 0.7 percentage points.
 */
const pauseMax = 2 * sampleRate
const pauseKept = sampleRate
/**
 * The shortest pause, in samples, that always ends a window. Inside a window, such a pause would be shortened, and the
 * model would join the sentences before and after the pause.
 */
const pauseEnds = 10 * sampleRate

/**
 * Collects speech spans and makes windows from them. A window is complete when no more speech fits into it, or when a
 * pause of at least `pauseEnds` follows.
 */
export class Packer {
  private spans: SpeechSpan[] = []
  private last = 0

  constructor(private readonly samplesMax = windowSamples) {}

  /**
   * The first sample of the recording that a later window needs: the start of the first collected span. Null if no
   * spans are collected.
   */
  get pending(): number | null {
    return this.spans[0]?.from ?? null
  }

  add(found: SpeechSpan): Window[] {
    const span = beginningAt(found, this.last)
    if (span.to <= span.from) return []
    const full = span.from - this.last >= pauseEnds ? this.end() : []
    this.last = span.to
    this.spans.push(span)
    while (lengthOf(this.spans) > this.samplesMax) full.push(windowOf(this.spans.splice(0, this.fitting())))
    return full
  }

  end(): Window[] {
    return this.spans.length > 0 ? [windowOf(this.spans.splice(0))] : []
  }

  /**
   * Returns the number of collected spans that go into the next window. The window ends at the longest pause in the
   * last third of its maximum length. If this third has no pause, the window ends after the last span that fits.
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

export function windowOf(spans: readonly SpeechSpan[]): Window {
  const pieces: Piece[] = []
  let samples = 0
  for (const span of spans) {
    const last = pieces.at(-1)
    if (last && span.from - last.to <= pauseMax) {
      samples += span.to - last.to
      last.to = span.to
      continue
    }
    if (last) {
      last.to += pauseKept / 2
      samples += pauseKept / 2
    }
    const from = last ? span.from - pauseKept / 2 : span.from
    pieces.push({ from, to: span.to, at: samples })
    samples += span.to - from
  }
  const [from, to] = [pieces[0]?.from ?? 0, pieces.at(-1)?.to ?? 0]
  return { from, to, pieces, samples, speech: [...spans] }
}

/**
 * Returns a window with more speech at its end: as many spans of `later` as fit into 30 s. The model makes fewer errors
 * at the end of a short window if more speech follows.
 */
export function withSpeechAfter(window: Window, later: readonly SpeechSpan[]): Window {
  let extended = window
  for (const span of later) {
    if (span.from < window.to) continue
    const longer = windowOf([...extended.speech, span])
    if (longer.samples > windowSamples) break
    extended = longer
  }
  return extended
}

/** Returns the part of a window before sample `end` of the recording. Speech after this sample is left out. */
export function windowUntil(window: Window, end: number): Window {
  const speech = window.speech.map(span => endingAt(span, end))
  return { ...window, to: end, speech: speech.filter(({ from, to }) => from < to) }
}

function lengthOf(spans: readonly SpeechSpan[]): number {
  return windowOf(spans).samples
}

/** Returns the length of the window's sound, in model frames. */
export function framesOf({ samples }: Window): number {
  return Math.min(windowFrames, Math.ceil(samples / samplesPerFrame))
}

/**
 * Converts a model frame of the window to a sample of the recording. A frame at the boundary of two pieces belongs to
 * the second piece.
 */
export function sampleOf({ pieces }: Window, frame: number): number {
  const at = frame * samplesPerFrame
  const { from, to, at: start } = found(pieces.findLast(piece => piece.at <= at))
  return Math.min(to, from + at - start)
}

/**
 * Returns the piece of the window that contains sample `sample` of the recording. Throws if the sample is before the
 * first piece.
 */
export function pieceWith({ pieces }: Window, sample: number): Piece {
  return found(pieces.findLast(piece => piece.from <= sample))
}

function found(piece: Piece | undefined): Piece {
  if (!piece) throw new RangeError('this lies before the first piece of the window')
  return piece
}

/** Copies the sound of the window's pieces from the recording into one array. */
export function soundOf(window: Window, recording: Recording): Float32Array {
  const sound = new Float32Array(window.samples)
  for (const { from, to, at } of window.pieces)
    recording.copy(from, Math.min(to, from + window.samples - at), sound, at)
  return sound
}

/** The decoded sound of a recording. Sound that no later window needs is removed from memory. */
export class Recording {
  private parts: { from: number; samples: Float32Array }[] = []
  length = 0

  add(samples: Float32Array): void {
    if (samples.length === 0) return
    this.parts.push({ from: this.length, samples })
    this.length += samples.length
  }

  /**
   * Copies the samples of the recording between `from` and `to` into `target`, starting at index `at` of `target`.
   * Samples that were removed from the recording are skipped.
   */
  copy(from: number, to: number, target: Float32Array, at: number): void {
    for (const part of this.parts) {
      const start = Math.max(from, part.from)
      const end = Math.min(to, part.from + part.samples.length)
      if (start < end)
        target.set(part.samples.subarray(start - part.from, end - part.from), at + start - from)
    }
  }

  forget(before: number): void {
    while (this.parts[0] && this.parts[0].from + this.parts[0].samples.length <= before) this.parts.shift()
  }
}

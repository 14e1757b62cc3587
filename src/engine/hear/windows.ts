// Packs speech spans into windows of at most 30 s for the model. A full window ends at the longest pause in its last
// third. A pause of up to two seconds between two spans is kept, and a longer one is shortened. So a window consists
// of pieces of the recording, and stores the place of each piece.

import { sampleRate, samplesPerFrame, windowFrames, windowSamples } from '../audio.ts'
import { beginningAt, endingAt, type Span, type SpeechSpan } from './speech-spans.ts'

/** A piece of a window: a span of the recording whose sound begins at sample `at` of the window. */
export type Piece = Span & { at: number }

/**
 * A window. `from` is the start of its first piece in the recording, and `to` the end of its last piece. `samples` is
 * the length of the window's sound, which is shorter if pauses are shortened.
 */
export type Window = Span & {
  pieces: Piece[]
  samples: number
  /** The speech spans of the window, in samples of the recording. */
  speech: SpeechSpan[]
}

/**
 * The longest pause, in samples, that a window keeps. A longer pause is shortened to `pauseKept`: half of it remains
 * at each end. The model makes fewer errors when pauses stay natural: if pauses over one second are shortened to half
 * a second, the word error rate rises by 0.7 points.
 */
const pauseMax = 2 * sampleRate
const pauseKept = sampleRate
/**
 * The shortest pause, in samples, that always ends a window. If such a pause were inside a window, the model would
 * join the sentences before and after it.
 */
const pauseEnds = 10 * sampleRate

/** Collects speech spans. Returns a window as soon as it is full, or when a long pause ends it. */
export class Packer {
  private spans: SpeechSpan[] = []
  private last = 0

  constructor(private readonly samplesMax = windowSamples) {}

  /** The first sample of the recording that a later window needs. Null if the packer holds no spans. */
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
   * Returns the number of collected spans that go into the full window. The window ends at the longest pause in its
   * last third, or after the last span that fits if the last third has no pause.
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
 * Returns the window, extended by as many of the spans `later` as fit into it. The model makes fewer errors at the
 * end of short speech when more speech follows.
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

/** Cuts the window at the sample `end` of the recording. The speech after this sample is left out. */
export function windowUntil(window: Window, end: number): Window {
  const speech = window.speech.map(span => endingAt(span, end))
  return { ...window, to: end, speech: speech.filter(({ from, to }) => from < to) }
}

function lengthOf(spans: readonly SpeechSpan[]): number {
  return windowOf(spans).samples
}

/** Returns the number of model frames with sound. */
export function framesOf({ samples }: Window): number {
  return Math.min(windowFrames, Math.ceil(samples / samplesPerFrame))
}

/**
 * Converts a model frame of the window to a sample of the recording. A frame between two pieces counts as the start
 * of the second piece.
 */
export function sampleOf({ pieces }: Window, frame: number): number {
  const at = frame * samplesPerFrame
  const { from, to, at: start } = found(pieces.findLast(piece => piece.at <= at))
  return Math.min(to, from + at - start)
}

/** Finds the piece that contains a sample of the recording. */
export function pieceWith({ pieces }: Window, sample: number): Piece {
  return found(pieces.findLast(piece => piece.from <= sample))
}

function found(piece: Piece | undefined): Piece {
  if (!piece) throw new RangeError('this lies before the first piece of the window')
  return piece
}

/** Copies the sound of a window from the recording. */
export function soundOf(window: Window, recording: Recording): Float32Array {
  const sound = new Float32Array(window.samples)
  for (const { from, to, at } of window.pieces)
    recording.copy(from, Math.min(to, from + window.samples - at), sound, at)
  return sound
}

/** The decoded sound of a recording, without the sound that no later window needs. */
export class Recording {
  private parts: { from: number; samples: Float32Array }[] = []
  length = 0

  add(samples: Float32Array): void {
    if (samples.length === 0) return
    this.parts.push({ from: this.length, samples })
    this.length += samples.length
  }

  /**
   * Copies the samples from `from` to `to` into `target`, starting at index `at`. Samples that were already removed
   * are skipped.
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

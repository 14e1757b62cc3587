// A window: one or more pieces of the recording, with at most 30 s of sound. A pause of more than two seconds inside a
// window is shortened.

import { sampleRate, samplesPerFrame, windowFrames, windowSamples } from '../audio.ts'
import type { Recording } from './recording.ts'
import { endingAt, type Span, type SpeechSpan } from './speech-spans.ts'

/** A piece of a window: a span of the recording whose sound begins at sample `at` of the window. */
export type Piece = Span & { at: number }

/**
 * A window: sound that the model reads at once, joined from pieces of the recording. `from` and `to` are positions in
 * the recording. `samples` is the length of the joined sound. Long pauses are shortened, so this length can be less
 * than `to - from`.
 */
export type Window = Span & {
  pieces: Piece[]
  samples: number
  /** The speech spans of the window, in samples of the recording. */
  speech: SpeechSpan[]
}

/**
 * The longest pause, in samples, that is not shortened. A lower limit makes more errors: when all pauses over one
 * second were shortened to half a second, the word error rate rose by 0.7 percentage points.
 */
const pauseMax = 2 * sampleRate
/**
 * The length of a pause after it was shortened, in samples. The first half of this length comes from the start of the
 * pause, and the second half from its end. Shortened pauses leave more of the window for speech.
 */
const pauseKept = sampleRate

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
 * Returns the window, extended by as many spans of `later` after its end as fit into 30 s. The model makes fewer errors
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

/**
 * Returns a window that ends at sample `end` of the recording. Removes later speech from `speech`. Does not shorten
 * `pieces` and `samples`, because the caller does not read them. The caller only looks for speech for which the model
 * returned no text.
 */
export function windowUntil(window: Window, end: number): Window {
  const speech = window.speech.map(span => endingAt(span, end))
  return { ...window, to: end, speech: speech.filter(({ from, to }) => from < to) }
}

/** Returns the length of the window's sound, in model frames. */
export function framesOf({ samples }: Window): number {
  return Math.min(windowFrames, Math.ceil(samples / samplesPerFrame))
}

/**
 * Converts a model frame (20 ms) of the window to a sample of the recording. A frame at the boundary of two pieces
 * belongs to the second piece.
 */
export function sampleOf({ pieces }: Window, frame: number): number {
  const at = frame * samplesPerFrame
  const { from, to, at: start } = found(pieces.findLast(piece => piece.at <= at))
  return Math.min(to, from + at - start)
}

/**
 * Returns the last piece that begins at or before `sample`, a position in the recording. Throws if there is no such
 * piece.
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

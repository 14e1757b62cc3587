// Spans of speech to windows of at most 30 s for the model, cut at the longest pause near their end. A pause is
// kept as it is up to a second and shortened beyond that; a window remembers where each piece came from.

import { sampleRate, samplesPerFrame, windowSamples } from '../audio.ts'
import type { Span } from './segments.ts'

/** `from`…`to` of the recording stands at `at` in the window. Samples. */
export type Piece = Span & { at: number }

export type Window = {
  pieces: Piece[]
  samples: number
  /** Speech in it, as voice detection has it, in samples of the recording. */
  speech: Span[]
}

/** A pause longer than this is shortened: half of what is kept stands on either side. */
const pauseMax = sampleRate
const pauseKept = 0.5 * sampleRate
/** After this one somebody begins anew: joined to what was before, it would be taken for the same sentence. */
const pauseEnds = 10 * sampleRate

/** Collects spans and gives a window whenever one is full. */
export class Packer {
  private spans: Span[] = []
  private last = 0

  constructor(private readonly samplesMax = windowSamples) {}

  /** The first sample that is still needed. */
  get pending(): number | null {
    return this.spans[0]?.from ?? null
  }

  add(span: Span): Window[] {
    const from = Math.max(span.from, this.last)
    if (span.to <= from) return []
    const full = from - this.last >= pauseEnds ? this.end() : []
    this.last = span.to
    this.spans.push({ from, to: span.to })
    while (lengthOf(this.spans) > this.samplesMax) {
      const count = this.cut()
      full.push(windowOf(this.spans.splice(0, count)))
    }
    return full
  }

  end(): Window[] {
    return this.spans.length > 0 ? [windowOf(this.spans.splice(0))] : []
  }

  /** How many spans the full window takes: up to the longest pause in its last third, or the last one at all. */
  private cut(): number {
    let best = 1
    let bestPause = -1
    for (let count = 1; count < this.spans.length; count++) {
      const length = lengthOf(this.spans.slice(0, count))
      if (length > this.samplesMax) break
      const pause = this.spans[count]!.from - this.spans[count - 1]!.to
      if (length < (2 / 3) * this.samplesMax || pause >= bestPause) {
        best = count
        bestPause = length < (2 / 3) * this.samplesMax ? -1 : pause
      }
    }
    return best
  }
}

export function windowOf(spans: readonly Span[]): Window {
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
  return { pieces, samples, speech: spans.map(each => ({ ...each })) }
}

function lengthOf(spans: readonly Span[]): number {
  return windowOf(spans).samples
}

/** Where a frame of the window lies in the recording. Between pieces, the later one has it. */
export function sampleOf(window: Window, frame: number): number {
  const at = frame * samplesPerFrame
  const piece = window.pieces.findLast(each => each.at <= at) ?? window.pieces[0]!
  return Math.min(piece.to, piece.from + at - piece.at)
}

/** The sound of a window. */
export function soundOf(window: Window, recording: Recording): Float32Array {
  const sound = new Float32Array(window.samples)
  for (const { from, to, at } of window.pieces)
    recording.copy(from, Math.min(to, from + window.samples - at), sound, at)
  return sound
}

/** Sound as it is decoded, held only as far back as it is needed. */
export class Recording {
  private parts: { from: number; samples: Float32Array }[] = []
  length = 0

  add(samples: Float32Array): void {
    if (samples.length === 0) return
    this.parts.push({ from: this.length, samples })
    this.length += samples.length
  }

  /** What is held of the stretch, into `target` from `at` on. */
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

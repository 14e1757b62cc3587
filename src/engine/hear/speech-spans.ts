// Converts speech probabilities to speech spans.

import { sampleRate } from '../audio.ts'
import { frameSamples } from './vad-network.ts'

export type Span = { from: number; to: number }

/** A speech span with padding at both ends. */
export type SpeechSpan = Span & {
  /** The span without the padding. */
  voice: Span
}

/**
 * The rules for a speech span. It begins at a frame whose probability is at least `begins`. It ends at a frame below
 * `ends` if `silenceFrames` frames follow without another one that reaches `begins`. A span of less than `framesMin`
 * frames is dropped. A frame is 32 ms. The probabilities are the defaults of Silero VAD, and the counts follow
 * faster-whisper.
 */
const speech = { begins: 0.5, ends: 0.35, silenceFrames: 8, framesMin: 4 }
/** The padding at both ends of a span, in samples. It is shorter than the silence that ends a span. */
const speechPad = 0.25 * sampleRate

/**
 * Converts the probabilities of speech, frame by frame, to speech spans in samples. A span that is longer than
 * `samplesMax` is cut in its second half, at the frame with the lowest probability.
 */
export class SpeechSpans {
  private frame = 0
  /** The first frame of the span that has begun but not ended. -1 if there is no such span. */
  private began = -1
  private quietSince = -1
  private probabilities: number[] = []
  private ready: SpeechSpan[] = []

  constructor(private readonly samplesMax: number) {}

  push(probabilities: Float32Array): SpeechSpan[] {
    for (const probability of probabilities) this.next(probability)
    return this.ready.splice(0)
  }

  end(samples: number): SpeechSpan[] {
    if (this.began >= 0) this.close(this.quietSince >= 0 ? this.quietSince : this.frame)
    return this.ready.splice(0).map(span => endingAt(span, samples))
  }

  /** The first sample at which a span that is not returned yet can begin. */
  get settled(): number {
    const frame = this.began >= 0 ? this.began : this.frame
    return Math.max(0, frame * frameSamples - speechPad)
  }

  private next(probability: number): void {
    if (this.began < 0 && probability >= speech.begins) {
      this.began = this.frame
      this.probabilities = []
    }
    if (this.began >= 0) {
      this.probabilities.push(probability)
      if (probability >= speech.begins) this.quietSince = -1
      else if (probability < speech.ends && this.quietSince < 0) this.quietSince = this.frame
      if (this.quietSince >= 0 && this.frame + 1 - this.quietSince >= speech.silenceFrames) {
        this.close(this.quietSince)
      } else if ((this.probabilities.length + 1) * frameSamples + 2 * speechPad > this.samplesMax) {
        this.cut()
      }
    }
    this.frame++
  }

  private close(end: number): void {
    if (end - this.began >= speech.framesMin) this.add(this.began, end)
    this.began = -1
    this.quietSince = -1
  }

  private cut(): void {
    const half = Math.ceil(this.probabilities.length / 2)
    const later = this.probabilities.slice(half)
    const least = half + later.lastIndexOf(Math.min(...later))
    this.add(this.began, this.began + least)
    this.probabilities = this.probabilities.slice(least)
    this.began += least
    if (this.quietSince >= 0) this.quietSince = Math.max(this.quietSince, this.began)
  }

  private add(begin: number, end: number): void {
    const voice = { from: begin * frameSamples, to: end * frameSamples }
    this.ready.push({ from: Math.max(0, voice.from - speechPad), to: voice.to + speechPad, voice })
  }
}

/** Returns the part of a span that begins at `sample`. */
export function beginningAt({ from, to, voice }: SpeechSpan, sample: number): SpeechSpan {
  const clipped = { from: Math.max(voice.from, sample), to: Math.max(voice.to, sample) }
  return { from: Math.max(from, sample), to: Math.max(to, sample), voice: clipped }
}

/** Returns the part of a span that ends at `sample`. */
export function endingAt({ from, to, voice }: SpeechSpan, sample: number): SpeechSpan {
  const clipped = { from: Math.min(voice.from, sample), to: Math.min(voice.to, sample) }
  return { from: Math.min(from, sample), to: Math.min(to, sample), voice: clipped }
}

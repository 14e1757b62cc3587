// Converts the speech probabilities of voice detection to speech spans.

import { sampleRate } from '../audio.ts'
import { frameSamples } from './vad-sizes.ts'

export type Span = { from: number; to: number }

/** A span in which voice detection found speech, extended by padding at both ends. */
export type SpeechSpan = Span & {
  /** The speech span without its padding. */
  voice: Span
}

/** A frame with at least this probability is speech. */
export const speechBegins = 0.5

/**
 * A span begins at a frame with a probability of at least `begins`. It ends at the first frame below `ends`, unless the
 * probability reaches `begins` again within `silenceFrames` frames. A span of less than `framesMin` frames is removed.
 * A frame is 32 ms. The probabilities are the defaults of Silero VAD.
 */
const speech = { begins: speechBegins, ends: 0.35, silenceFrames: 8, framesMin: 4 }
/** The length of the sound that is added before and after each span, in samples. */
export const speechPad = 0.25 * sampleRate

/**
 * Converts the speech probabilities of frames to speech spans in samples. A span longer than `samplesMax`, with its
 * padding, is cut at the frame with the lowest probability in its second half.
 */
export class SpeechSpans {
  private frame = 0
  /** The first frame of the span whose end is not known yet. -1 if there is no such span. */
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

  /** All speech spans that later calls return begin at or after this sample of the recording. */
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

/** Returns the part of a speech span from `sample` to its end. The part is empty if the span ends before `sample`. */
export function beginningAt({ from, to, voice }: SpeechSpan, sample: number): SpeechSpan {
  const clipped = { from: Math.max(voice.from, sample), to: Math.max(voice.to, sample) }
  return { from: Math.max(from, sample), to: Math.max(to, sample), voice: clipped }
}

/**
 * Returns the part of a speech span from its start to `sample`. The part is empty if the span begins after `sample`.
 */
export function endingAt({ from, to, voice }: SpeechSpan, sample: number): SpeechSpan {
  const clipped = { from: Math.min(voice.from, sample), to: Math.min(voice.to, sample) }
  return { from: Math.min(from, sample), to: Math.min(to, sample), voice: clipped }
}

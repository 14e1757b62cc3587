// Probabilities of speech to spans of speech.

import { sampleRate } from '../audio.ts'
import { frameSamples } from './vad.ts'

export type Span = { from: number; to: number }

/** Silero's own thresholds and faster-whisper's, in frames of 32 ms where they are times. */
const speech = { begins: 0.5, ends: 0.35, silenceFrames: 8, framesMin: 4 }
/** Added to both ends of a span. */
export const speechPad = 0.2 * sampleRate

/**
 * Probabilities, as they come, to spans of speech in samples. No span is longer than `samplesMax`: a longer one
 * is cut where speech is least likely in its second half.
 */
export class Segments {
  private frame = 0
  private began = -1
  private quietSince = -1
  private heard: number[] = []
  private ready: Span[] = []

  constructor(private readonly samplesMax: number) {}

  push(probabilities: Float32Array): Span[] {
    for (const probability of probabilities) this.hear(probability)
    return this.ready.splice(0)
  }

  end(samples: number): Span[] {
    if (this.began >= 0) this.close(this.quietSince >= 0 ? this.quietSince : this.frame)
    return this.ready.splice(0).map(each => ({ from: each.from, to: Math.min(each.to, samples) }))
  }

  /** Nothing before this sample can still become speech. */
  get settled(): number {
    const frame = this.began >= 0 ? this.began : this.frame
    return Math.max(0, frame * frameSamples - speechPad)
  }

  private hear(probability: number): void {
    if (this.began < 0 && probability >= speech.begins) {
      this.began = this.frame
      this.heard = []
    }
    if (this.began >= 0) {
      this.heard.push(probability)
      if (probability >= speech.begins) this.quietSince = -1
      else if (probability < speech.ends && this.quietSince < 0) this.quietSince = this.frame
      if (this.quietSince >= 0 && this.frame + 1 - this.quietSince >= speech.silenceFrames) {
        this.close(this.quietSince)
      } else if ((this.heard.length + 1) * frameSamples + 2 * speechPad > this.samplesMax) {
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
    let least = this.heard.length - 1
    for (let at = least; at >= this.heard.length / 2; at--)
      if (this.heard[at]! < this.heard[least]!) least = at
    this.add(this.began, this.began + least)
    this.heard = this.heard.slice(least)
    this.began += least
    if (this.quietSince >= 0) this.quietSince = Math.max(this.quietSince, this.began)
  }

  private add(begin: number, end: number): void {
    this.ready.push({
      from: Math.max(0, begin * frameSamples - speechPad),
      to: end * frameSamples + speechPad,
    })
  }
}

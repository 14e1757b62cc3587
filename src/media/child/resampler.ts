// Frames of any rate, format and number of channels to 16 kHz mono float, inside the child.

import type { AVChannelOrder } from 'node-av/constants'
import type { Frame, SoftwareResampleContext } from 'node-av/lib'
import { sampleRate } from '../wire.ts'
import type { FFmpeg } from './ffmpeg.ts'

/** One frame may not become more than this (four minutes); the rate it claims would be absurd. */
const frameSamplesMax = 4_000_000
const frontCenter = 4n

export class Resampler {
  readonly #ffmpeg: FFmpeg
  readonly #emit: (samples: Float32Array) => void
  readonly #out: Frame
  #room = 0
  #view: Float32Array = new Float32Array(0)
  #context: SoftwareResampleContext | null = null

  constructor(ffmpeg: FFmpeg, emit: (samples: Float32Array) => void) {
    this.#ffmpeg = ffmpeg
    this.#emit = emit
    this.#out = new ffmpeg.Frame()
  }

  /** False when the frame is of a kind that cannot be converted. */
  convert(frame: Frame, { skip }: { skip: number }): boolean {
    const order = this.#layOut(frame)
    this.#context ??= this.#open(frame, order)
    if (!this.#context) return false
    if (skip >= 1 && this.#context.dropOutput(Math.round(skip)) < 0) return false
    const most = this.#context.getOutSamples(frame.nbSamples)
    if (most < 0 || most > frameSamplesMax) return false
    this.#makeRoom(most)
    const result = this.#context.convertFrame(this.#out, frame)
    if (result === this.#ffmpeg.AVERROR_INPUT_CHANGED) {
      // Another rate, format or layout from here on: what is still inside belongs to the old one.
      this.flush()
      this.#context = this.#open(frame, order)
      if (!this.#context || this.#context.convertFrame(this.#out, frame) < 0) return false
    } else if (result < 0) return false
    this.#pass()
    return true
  }

  /** Gives out what the filter still holds; the next frame starts afresh. */
  flush(): void {
    if (!this.#context) return
    this.#makeRoom(Math.max(0, this.#context.getOutSamples(0)))
    if (this.#context.convertFrame(this.#out, null) >= 0) this.#pass()
    this.#context.free()
    this.#context = null
  }

  #open(frame: Frame, order: AVChannelOrder): SoftwareResampleContext | null {
    const context = new this.#ffmpeg.SoftwareResampleContext()
    context.alloc()
    // The mix is scaled so that all channels at full level still fit.
    context.setOption('rematrix_maxval', 1)
    this.#makeRoom(1)
    const configured = context.configFrame(this.#out, frame)
    if (configured >= 0 && this.#mix(context, frame.channels, order) >= 0 && context.init() >= 0)
      return context
    context.free()
    return null
  }

  /** FFmpeg converts no frame that does not say what its channels are, as those of plain WAV do not. */
  #layOut(frame: Frame): AVChannelOrder {
    const { order, nbChannels } = frame.channelLayout
    if (order === this.#ffmpeg.AV_CHANNEL_ORDER_UNSPEC) {
      const mask = nbChannels === 1 ? frontCenter : (1n << BigInt(nbChannels)) - 1n
      frame.channelLayout = { nbChannels, order: this.#ffmpeg.AV_CHANNEL_ORDER_NATIVE, mask }
    }
    return order
  }

  /** Where it is not known what stands left and right, every channel counts the same. */
  #mix(context: SoftwareResampleContext, channels: number, order: AVChannelOrder): number {
    if (order === this.#ffmpeg.AV_CHANNEL_ORDER_NATIVE) return 0
    const firstAlone = order === this.#ffmpeg.AV_CHANNEL_ORDER_AMBISONIC
    const gains = Array.from({ length: channels }, (_, i) => (firstAlone ? Number(i === 0) : 1 / channels))
    return context.setMatrix(gains, channels)
  }

  #makeRoom(samples: number): void {
    if (samples > this.#room) {
      this.#room = Math.max(samples, sampleRate)
      this.#out.alloc()
      this.#out.format = this.#ffmpeg.AV_SAMPLE_FMT_FLT
      this.#out.sampleRate = sampleRate
      const order = this.#ffmpeg.AV_CHANNEL_ORDER_NATIVE
      this.#out.channelLayout = { nbChannels: 1, order, mask: frontCenter }
      this.#out.nbSamples = this.#room
      if (this.#out.getBuffer() < 0) throw new Error('no memory for the output frame')
      const bytes = this.#out.data![0]!
      this.#view = new Float32Array(bytes.buffer, bytes.byteOffset, this.#room)
    }
    // It comes back as the number of samples written.
    this.#out.nbSamples = this.#room
  }

  #pass(): void {
    const samples = this.#view.subarray(0, this.#out.nbSamples)
    for (let i = 0; i < samples.length; i++) {
      const sample = samples[i]!
      // Files of floats may hold anything; one NaN would poison all that is computed from it.
      if (!(sample >= -1 && sample <= 1)) samples[i] = sample > 1 ? 1 : sample < -1 ? -1 : 0
    }
    this.#emit(samples)
  }
}

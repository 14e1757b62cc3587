// Converts frames of any sample rate, format and number of channels to mono samples: 32-bit floats at 16
// kHz.

import type { AVChannelOrder } from 'node-av/constants'
import type { Frame, SoftwareResampleContext } from 'node-av/lib'
import { sampleRate } from '../wire.ts'
import { Downmix } from './downmix.ts'
import type { FFmpeg } from './ffmpeg.ts'

/**
 * The maximum number of output samples of one frame, about four minutes. A frame with more output samples
 * has a wrong sample rate.
 */
const frameSamplesMax = 4_000_000
const frontCenter = 4n
const frontPair = 3n

export class Resampler {
  readonly #ffmpeg: FFmpeg
  readonly #emit: (samples: Float32Array) => void
  readonly #out: Frame
  #room = 0
  #view: Float32Array = new Float32Array(0)
  #context: SoftwareResampleContext | null = null
  /**
   * The number of channels of the converted sound: 2 for stereo, which Downmix then mixes, and 1 for any
   * other input.
   */
  #channels = 1
  readonly #downmix = new Downmix()

  constructor(ffmpeg: FFmpeg, emit: (samples: Float32Array) => void) {
    this.#ffmpeg = ffmpeg
    this.#emit = emit
    this.#out = new ffmpeg.Frame()
  }

  /**
   * Converts a frame and emits its samples. `skip` is the number of output samples to drop at the beginning.
   * Returns false if the frame cannot be converted.
   */
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
      // The sample rate, format or channel layout has changed. The filter still holds samples of the old
      // kind, so they are emitted first.
      this.flush()
      this.#context = this.#open(frame, order)
      if (!this.#context || this.#context.convertFrame(this.#out, frame) < 0) return false
    } else if (result < 0) return false
    this.#pass()
    return true
  }

  /** Emits the samples that remain in the filter. The next frame starts a new filter. */
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
    // This option scales the mix so that it does not clip when all channels are at full level.
    context.setOption('rematrix_maxval', 1)
    this.#useChannels(frame.channels === 2 && order !== this.#ffmpeg.AV_CHANNEL_ORDER_AMBISONIC ? 2 : 1)
    this.#makeRoom(1)
    const configured = context.configFrame(this.#out, frame)
    if (configured >= 0 && this.#mix(context, frame.channels, order) >= 0 && context.init() >= 0)
      return context
    context.free()
    return null
  }

  #useChannels(channels: number): void {
    if (channels === this.#channels) return
    this.#channels = channels
    this.#room = 0
  }

  /**
   * Sets a channel layout on a frame that has none, for example a frame of a plain WAV file. FFmpeg cannot
   * convert a frame without a layout. Returns the kind of layout that the frame had before.
   */
  #layOut(frame: Frame): AVChannelOrder {
    const { order, nbChannels } = frame.channelLayout
    if (order === this.#ffmpeg.AV_CHANNEL_ORDER_UNSPEC) {
      const mask = nbChannels === 1 ? frontCenter : (1n << BigInt(nbChannels)) - 1n
      frame.channelLayout = { nbChannels, order: this.#ffmpeg.AV_CHANNEL_ORDER_NATIVE, mask }
    }
    return order
  }

  /**
   * Sets the gain of each channel in the mix. Channels with unknown positions get equal gains. Of ambisonic
   * sound only the first channel is used, because it is omnidirectional.
   */
  #mix(context: SoftwareResampleContext, channels: number, order: AVChannelOrder): number {
    if (order === this.#ffmpeg.AV_CHANNEL_ORDER_NATIVE || this.#channels === 2) return 0
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
      const mask = this.#channels === 2 ? frontPair : frontCenter
      this.#out.channelLayout = { nbChannels: this.#channels, order, mask }
      this.#out.nbSamples = this.#room
      if (this.#out.getBuffer() < 0) throw new Error('no memory for the output frame')
      const bytes = this.#out.data?.[0]
      if (!bytes) throw new Error('the output frame has no buffer')
      this.#view = new Float32Array(bytes.buffer, bytes.byteOffset, this.#room * this.#channels)
    }
    // A conversion sets nbSamples to the number of samples that it wrote. The next conversion needs the full
    // size again.
    this.#out.nbSamples = this.#room
  }

  #pass(): void {
    const samples = this.#view.subarray(0, this.#out.nbSamples * this.#channels)
    for (let i = 0; i < samples.length; i++) {
      const sample = samples[i]!
      // A float file may hold any value. One NaN would spread through the whole model.
      if (!(sample >= -1 && sample <= 1)) samples[i] = sample > 1 ? 1 : sample < -1 ? -1 : 0
    }
    this.#emit(this.#channels === 2 ? this.#downmix.mix(samples) : samples)
  }
}

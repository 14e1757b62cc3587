// An open media file: its container, the selected audio stream, and the decoder.

import type { CodecContext, FormatContext, Frame, Packet } from 'node-av/lib'
import { seek } from '../../base/libc.ts'
import { Refused } from '../refusals.ts'
import { sampleRate } from '../wire.ts'
import type { FFmpeg } from './ffmpeg.ts'
import { findLink } from './links.ts'
import { type Input, openAudio, openFormat } from './open.ts'
import type { Span } from './timeline.ts'

const stdin = 0
/**
 * A damaged file may fail to read at some positions. After this many failures in a row the file is treated as ended.
 */
const failedReadsMax = 64

export class Source {
  readonly container: string
  readonly codec: string
  readonly decoder: CodecContext
  /** True if the clock may restart in the middle of the file, as in broadcasts and chained streams. */
  readonly clockRestarts: boolean
  /** True if data was lost since the last frame. Then only the timestamp of the next frame shows its position. */
  lost = false
  /** Number of damaged packets and failed reads. */
  damaged = 0

  readonly #ffmpeg: FFmpeg
  readonly #format: FormatContext
  readonly #frame: Frame
  readonly #streamIndex: number
  readonly #samplesPerTick: number
  readonly #origin: number
  readonly #hasTimestamps: boolean
  readonly #isChain: boolean
  /** The offset of the last packet; only used for a chained file. */
  #reached: number
  #isStuck = false

  constructor(ffmpeg: FFmpeg, input: Input = { file: stdin, from: 0 }) {
    const format = openFormat(ffmpeg, input)
    const { stream, decoder } = openAudio(ffmpeg, format)
    const formatName = format.iformat?.name ?? ''
    this.container = firstName(formatName)
    this.codec = ffmpeg.avGetCodecName(stream.codecpar.codecId) ?? 'unknown'
    this.decoder = decoder
    this.clockRestarts = ((format.iformat?.flags ?? 0) & ffmpeg.AVFMT_TS_DISCONT) !== 0
    this.#ffmpeg = ffmpeg
    this.#format = format
    this.#frame = new ffmpeg.Frame()
    this.#frame.alloc()
    this.#streamIndex = stream.index
    this.#samplesPerTick = (stream.timeBase.num / stream.timeBase.den) * sampleRate
    this.#origin = originOf(ffmpeg, format)
    this.#hasTimestamps = !withoutTimestamps.includes(formatName)
    this.#isChain = formatName === 'ogg'
    this.#reached = input.from
  }

  /** Reads the next packet of the audio stream. Returns false at the end of the file. */
  read(packet: Packet): boolean {
    for (let failed = 0; failed < failedReadsMax; ) {
      packet.unref()
      const result = this.#format.readFrameSync(packet)
      if (result === this.#ffmpeg.AVERROR_EOF) return false
      if (result < 0) {
        failed += 1
        this.#noteDamage(result)
      } else if (packet.streamIndex === this.#streamIndex) {
        if (this.#isChain) this.#reached = Math.max(this.#reached, Number(packet.pos))
        return true
      }
    }
    // All these failures count as one damaged position.
    this.damaged -= failedReadsMax - 1
    this.#isStuck = true
    return false
  }

  /**
   * Closes this source and returns the next link of a chain that FFmpeg could not follow. Returns null when there is
   * none.
   */
  successor(): Source | null {
    if (!this.#isChain || !this.#isStuck) return null
    this.decoder.freeContext()
    this.#format.closeInputSync()
    return openLink(this.#ffmpeg, this.#reached + 1)
  }

  /** Passes the frames of a packet to `use`. A frame is valid only during the call. */
  decode(packet: Packet, use: (frame: Frame) => void): void {
    // The decoder would treat an empty packet as the end of the stream.
    if (packet.size > 0) this.#feed(packet, use)
  }

  /** Ends a sequence of packets and passes on the frames that remain in the decoder. Another sequence may follow. */
  drain(use: (frame: Frame) => void): void {
    this.#feed(null, use)
    this.decoder.flushBuffers()
    // After a flush some decoders return no frame for the first packet.
    this.lost = true
  }

  /** Returns the span of a packet, in samples of the output rate from the start of the file. */
  packetSpan(packet: Packet): Span {
    return { start: this.#samplesOf(packet.pts), length: Number(packet.duration) * this.#samplesPerTick }
  }

  frameSpan(frame: Frame): Span {
    return {
      start: this.#samplesOf(frame.bestEffortTimestamp),
      length: (frame.nbSamples * sampleRate) / frame.sampleRate,
    }
  }

  #feed(packet: Packet | null, use: (frame: Frame) => void): void {
    const frame = this.#frame
    const sent = this.decoder.sendPacketSync(packet)
    if (sent < 0) this.#noteDamage(sent)
    for (let failed = 0; failed < failedReadsMax; ) {
      const result = this.decoder.receiveFrameSync(frame)
      if (result === this.#ffmpeg.AVERROR_EAGAIN || result === this.#ffmpeg.AVERROR_EOF) return
      if (result < 0 || !isSound(frame)) {
        failed += 1
        this.#noteDamage(result)
      } else {
        use(frame)
        this.lost = false
      }
    }
  }

  #noteDamage(result: number): void {
    if (result === this.#ffmpeg.AVERROR_ENOMEM) throw new Refused('too-large')
    this.damaged += 1
    this.lost = true
  }

  #samplesOf(ticks: bigint): number | null {
    if (!this.#hasTimestamps || ticks === this.#ffmpeg.AV_NOPTS_VALUE) return null
    return Number(ticks) * this.#samplesPerTick - this.#origin
  }
}

/** Yields every link of a chained file. Any other file has one link: the source itself. */
export function* linksOf(first: Source): Generator<Source> {
  for (let link: Source | null = first; link; link = link.successor()) yield link
}

function openLink(ffmpeg: FFmpeg, after: number): Source | null {
  for (let from = findLink(stdin, after); from !== null; from = findLink(stdin, from + 1)) {
    // FFmpeg duplicates the descriptor, so all links share one read position.
    seek(stdin, 0)
    try {
      return new Source(ffmpeg, { file: stdin, from })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
    }
  }
  return null
}

/** Refuses frames with an impossible sample rate: at 1 Hz one frame would become hours of samples. */
function isSound(frame: Frame): boolean {
  return frame.nbSamples > 0 && frame.sampleRate >= 1000 && frame.sampleRate <= 1_000_000
}

/** Returns the first name of a container. FFmpeg lists synonyms, such as `mov,mp4,m4a,3gp,3g2,mj2`. */
function firstName(formatName: string): string {
  return formatName.replace(/,.*$/, '')
}

/**
 * Containers that store frames without timestamps. FFmpeg computes the times, incorrectly where the sample rate
 * changes.
 */
const withoutTimestamps = 'mp3 aac loas ac3 eac3 dts dtshd truehd mlp amr amrnb amrwb gsm'.split(' ')

/** Containers whose clock has its own zero. A stream that starts after zero really starts late. */
const zeroed = 'mov matroska avi asf flv nut mxf'.split(' ')
/** Those whose muxer may shift picture and sound by the same time, to reorder pictures. */
const shifted = ['mov', 'flv']
const shiftSecondsMax = 1
/** A later start is the clock of a recorder, for example in a part that was cut out of a live stream. */
const lateStartSecondsMax = 60

/**
 * Returns the time that a player shows as 0:00, in samples. A broadcast starts at any time; an mp3 starts with its
 * encoder delay.
 */
function originOf(ffmpeg: FFmpeg, format: FormatContext): number {
  if (format.startTime === ffmpeg.AV_NOPTS_VALUE) return 0
  const seconds = Number(format.startTime) / 1e6
  const family = firstName(format.iformat?.name ?? '')
  const isShifted = shifted.includes(family) && seconds <= shiftSecondsMax && hasPictures(ffmpeg, format)
  const hasOwnZero = zeroed.includes(family) && !isShifted && Math.abs(seconds) <= lateStartSecondsMax
  return hasOwnZero ? 0 : seconds * sampleRate
}

function hasPictures(ffmpeg: FFmpeg, format: FormatContext): boolean {
  return format.streams.some(
    ({ codecpar, disposition }) =>
      codecpar.codecType === ffmpeg.AVMEDIA_TYPE_VIDEO &&
      (disposition & ffmpeg.AV_DISPOSITION_ATTACHED_PIC) === 0,
  )
}

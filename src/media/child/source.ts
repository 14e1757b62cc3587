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
 * The number of failed reads in a row after which the file is treated as ended. A damaged file may fail at
 * some positions and be readable after them.
 */
const failedReadsMax = 64

export class Source {
  readonly container: string
  readonly codec: string
  readonly decoder: CodecContext
  /**
   * True if the timestamps of this container may restart in the middle of the file, as they do in broadcasts
   * and chained streams.
   */
  readonly clockRestarts: boolean
  /**
   * True if data was lost since the last frame. In this case only the timestamp of the next frame shows
   * where it belongs.
   */
  lost = false
  /** The number of damaged packets and failed reads. */
  damaged = 0

  readonly #ffmpeg: FFmpeg
  readonly #format: FormatContext
  readonly #frame: Frame
  readonly #streamIndex: number
  readonly #samplesPerTick: number
  readonly #origin: number
  readonly #hasTimestamps: boolean
  readonly #isChain: boolean
  /** The offset of the last packet that was read. It is used only for a chained file (links.ts). */
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
    // The failed reads in a row count as one damaged position.
    this.damaged -= failedReadsMax - 1
    this.#isStuck = true
    return false
  }

  /**
   * Returns the next link of a chained file (links.ts) if FFmpeg could not continue with that link. The
   * current link is closed before. Returns null if there is no next link, or if FFmpeg did not stop early.
   */
  successor(): Source | null {
    if (!this.#isChain || !this.#isStuck) return null
    this.decoder.freeContext()
    this.#format.closeInputSync()
    return openLink(this.#ffmpeg, this.#reached + 1)
  }

  /** Decodes a packet and passes its frames to `use`. A frame is valid only until `use` returns. */
  decode(packet: Packet, use: (frame: Frame) => void): void {
    // An empty packet is skipped, because the decoder would treat it as the end of the stream.
    if (packet.size > 0) this.#feed(packet, use)
  }

  /**
   * Ends a sequence of packets, and passes the frames that remain in the decoder to `use`. Another sequence
   * may follow.
   */
  drain(use: (frame: Frame) => void): void {
    this.#feed(null, use)
    this.decoder.flushBuffers()
    // After a flush some decoders return no frame for the first packet.
    this.lost = true
  }

  /**
   * Returns the start and the length of a packet, in samples at the output rate. The start is counted from
   * the time that a player shows as 0:00, and is null if the packet has no timestamp.
   */
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

/** Yields every link of a chained file (links.ts). Any other file has only one link, which is `first`. */
export function* linksOf(first: Source): Generator<Source> {
  for (let link: Source | null = first; link; link = link.successor()) yield link
}

function openLink(ffmpeg: FFmpeg, after: number): Source | null {
  for (let from = findLink(stdin, after); from !== null; from = findLink(stdin, from + 1)) {
    // FFmpeg duplicates the file descriptor, so all links share one read position.
    seek(stdin, 0)
    try {
      return new Source(ffmpeg, { file: stdin, from })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
    }
  }
  return null
}

/**
 * Returns false for a frame without samples or with an impossible sample rate. At a rate of 1 Hz one frame
 * would become hours of samples.
 */
function isSound(frame: Frame): boolean {
  return frame.nbSamples > 0 && frame.sampleRate >= 1000 && frame.sampleRate <= 1_000_000
}

/**
 * Returns the first name of a container. FFmpeg lists several names for one container, such as
 * `mov,mp4,m4a,3gp,3g2,mj2`.
 */
function firstName(formatName: string): string {
  return formatName.replace(/,.*$/, '')
}

/**
 * Containers that store frames without timestamps. FFmpeg computes the times of these frames, but the times
 * are wrong after a change of the sample rate.
 */
const withoutTimestamps = 'mp3 aac loas ac3 eac3 dts dtshd truehd mlp amr amrnb amrwb gsm'.split(' ')

/**
 * Containers whose timestamps have their own zero. A stream that starts after zero in these containers
 * really starts late.
 */
const zeroed = 'mov matroska avi asf flv nut mxf'.split(' ')
/**
 * Containers in which the program that wrote the file may have shifted picture and sound by the same time,
 * to reorder pictures.
 */
const shifted = ['mov', 'flv']
const shiftSecondsMax = 1
/**
 * If a stream starts later than this, its start is the clock of a recorder. An example is a part that was
 * cut out of a live stream.
 */
const lateStartSecondsMax = 60

/**
 * Returns the timestamp that a player shows as 0:00, in samples. In a broadcast this timestamp may have any
 * value. In an mp3 file it is the delay of the encoder.
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

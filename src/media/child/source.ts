// An open media file inside the child: its container, the audio stream that is taken, and its decoder.

import { closeSync, openSync } from 'node:fs'
import type { CodecContext, FormatContext, Frame, Packet } from 'node-av/lib'
import { Refused } from '../refusals.ts'
import { sampleRate } from '../wire.ts'
import type { FFmpeg } from './ffmpeg.ts'
import { findLink } from './links.ts'
import { openAudio, openFormat, type Place } from './open.ts'
import type { Span } from './timeline.ts'

export type Source = {
  container: string
  codec: string
  decoder: CodecContext
  /** The clock may start again in mid-file, as it does in broadcasts and chained streams. */
  clockRestarts: boolean
  /** Reads the next packet of the audio stream; false at the end of the file. */
  read(packet: Packet): boolean
  /** What follows at the end, where FFmpeg could not go on into the next link of a chain; this one is gone then. */
  successor(): Source | null
  /** Hands on what the decoder makes of a packet. The frame is gone afterwards. */
  decode(packet: Packet, use: (frame: Frame) => void): void
  /** The end of a row of packets; another may follow. */
  drain(use: (frame: Frame) => void): void
  /** Where a packet or frame belongs, in samples of the output rate from the start of the file. */
  packetSpan(packet: Packet): Span
  frameSpan(frame: Frame): Span
  /** Something was lost since the last frame: its timestamp alone says where it belongs. */
  lost: boolean
  /** Packets or reads that turned out damaged. */
  damaged: number
}

const stdin = 0
/** A damaged file may fail to read here and there; this often in a row it is at its end. */
const failedReadsMax = 64

export function openSource(ffmpeg: FFmpeg, place: Place = { file: stdin, from: 0 }): Source {
  const format = openFormat(ffmpeg, place)
  const { stream, decoder } = openAudio(ffmpeg, format)
  const { index } = stream
  const container = format.iformat?.name ?? ''
  const tick = (stream.timeBase.num / stream.timeBase.den) * sampleRate
  const origin = originOf(ffmpeg, format)
  const bare = stampless.includes(container)
  const samples = (ticks: bigint) =>
    bare || ticks === ffmpeg.AV_NOPTS_VALUE ? null : Number(ticks) * tick - origin

  const chained = container === 'ogg'
  let reached = place.from
  let stuck = false

  const frame = new ffmpeg.Frame()
  frame.alloc()
  const spoilt = (result: number) => {
    if (result === ffmpeg.AVERROR_ENOMEM) throw new Refused('too-large')
    source.damaged += 1
    source.lost = true
  }
  const feed = (packet: Packet | null, use: (frame: Frame) => void) => {
    const sent = decoder.sendPacketSync(packet)
    if (sent < 0) spoilt(sent)
    for (let failed = 0; failed < failedReadsMax; ) {
      const result = decoder.receiveFrameSync(frame)
      if (result === ffmpeg.AVERROR_EAGAIN || result === ffmpeg.AVERROR_EOF) return
      if (result < 0 || !isSound(frame)) {
        failed += 1
        spoilt(result)
      } else {
        use(frame)
        source.lost = false
      }
    }
  }

  const source: Source = {
    container: container.split(',')[0]!,
    codec: ffmpeg.avGetCodecName(stream.codecpar.codecId) ?? 'unknown',
    decoder,
    clockRestarts: ((format.iformat?.flags ?? 0) & ffmpeg.AVFMT_TS_DISCONT) !== 0,
    read: packet => {
      for (let failed = 0; failed < failedReadsMax; ) {
        packet.unref()
        const result = format.readFrameSync(packet)
        if (result === ffmpeg.AVERROR_EOF) return false
        if (result < 0) {
          failed += 1
          spoilt(result)
        } else if (packet.streamIndex === index) {
          if (chained) reached = Math.max(reached, Number(packet.pos))
          return true
        }
      }
      // One place in the file, however often it was tried.
      source.damaged -= failedReadsMax - 1
      stuck = true
      return false
    },
    successor: () => {
      if (!chained || !stuck) return null
      decoder.freeContext()
      format.closeInputSync()
      return openLink(ffmpeg, reached + 1)
    },
    decode: (packet, use) => {
      // To the decoder an empty packet is the end of the stream.
      if (packet.size > 0) feed(packet, use)
    },
    drain: use => {
      feed(null, use)
      decoder.flushBuffers()
      // Some decoders give nothing for the first packet after this.
      source.lost = true
    },
    packetSpan: packet => ({ start: samples(packet.pts), length: Number(packet.duration) * tick }),
    frameSpan: frame => ({
      start: samples(frame.bestEffortTimestamp),
      length: (frame.nbSamples * sampleRate) / frame.sampleRate,
    }),
    lost: false,
    damaged: 0,
  }
  return source
}

/** Every link of a chained file, and just the one source of all others. */
export function* linksOf(first: Source): Generator<Source> {
  for (let link: Source | null = first; link; link = link.successor()) yield link
}

function openLink(ffmpeg: FFmpeg, after: number): Source | null {
  const from = findLink(stdin, after)
  if (from === null) return null
  // Under a number of its own, because FFmpeg moves about in the file; it makes itself another from that.
  const file = openSync(`/proc/self/fd/${stdin}`, 'r')
  try {
    return openSource(ffmpeg, { file, from })
  } catch (error) {
    if (error instanceof Refused) return openLink(ffmpeg, from + 1)
    throw error
  } finally {
    closeSync(file)
  }
}

/** Rates outside of these are made up; a single frame at 1 Hz would be hours of samples. */
function isSound(frame: Frame): boolean {
  return frame.nbSamples > 0 && frame.sampleRate >= 1000 && frame.sampleRate <= 1_000_000
}

/** Nothing but frames one after another: FFmpeg makes up their times, wrongly where the rate changes. */
const stampless = [
  'mp3',
  'aac',
  'loas',
  'ac3',
  'eac3',
  'dts',
  'dtshd',
  'truehd',
  'mlp',
  'amr',
  'amrnb',
  'amrwb',
  'gsm',
]

/** Containers whose clock has a zero of its own: what starts later than zero starts late. */
const zeroed = ['mov', 'matroska', 'avi', 'asf', 'flv', 'nut', 'mxf']
/** Of these, films whose muxer moved picture and sound alike, to make room for pictures out of order. */
const shifted = ['mov', 'flv']
const shiftMax = 1
/** A start further out than this is the clock of some recorder, as in a cut-out piece of a live stream. */
const lateStartMax = 60

/** What a player shows as 0:00, in samples. Broadcasts start anywhere, and mp3 with its encoder's delay. */
function originOf(ffmpeg: FFmpeg, format: FormatContext): number {
  if (format.startTime === ffmpeg.AV_NOPTS_VALUE) return 0
  const seconds = Number(format.startTime) / 1e6
  const family = (format.iformat?.name ?? '').split(',')[0]!
  const moved = shifted.includes(family) && seconds <= shiftMax && hasPictures(ffmpeg, format)
  const ownZero = zeroed.includes(family) && !moved && Math.abs(seconds) <= lateStartMax
  return ownZero ? 0 : seconds * sampleRate
}

function hasPictures(ffmpeg: FFmpeg, format: FormatContext): boolean {
  return format.streams.some(
    ({ codecpar, disposition }) =>
      codecpar.codecType === ffmpeg.AVMEDIA_TYPE_VIDEO &&
      (disposition & ffmpeg.AV_DISPOSITION_ATTACHED_PIC) === 0,
  )
}

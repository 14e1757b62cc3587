// An open media file inside the child: its container, the audio stream that is taken, and its decoder.

import type { CodecContext, FormatContext, Frame, Packet, Stream } from 'node-av/lib'
import type { FFmpeg } from './child.ts'
import { shiftsOnly } from './edits.ts'
import { codecs, containers } from './readable.ts'
import { Refused } from './refusals.ts'
import type { Span } from './timeline.ts'
import { sampleRate } from './wire.ts'

export type Source = {
  container: string
  codec: string
  decoder: CodecContext
  /** The clock may start again in mid-file, as it does in broadcasts and chained streams. */
  clockRestarts: boolean
  /** Reads the next packet of the audio stream; false at the end of the file. */
  read(packet: Packet): boolean
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
/** Enough to find streams that begin late in broadcasts; headers at the end of a file are sought, not probed. */
const probeBytes = 32 * 1024 ** 2
const probeMicroseconds = 60_000_000
/** A damaged file may fail to read here and there; this often in a row it is at its end. */
const failedReadsMax = 64

/** The file is what stands on stdin: by no other name can anything be opened. */
export function openSource(ffmpeg: FFmpeg): Source {
  const format = openFormat(ffmpeg)
  const { stream, decoder } = openAudio(ffmpeg, format)
  const { index } = stream
  const container = format.iformat?.name ?? ''
  const tick = (stream.timeBase.num / stream.timeBase.den) * sampleRate
  const origin = originOf(ffmpeg, format)
  const bare = stampless.includes(container)
  const samples = (ticks: bigint) =>
    bare || ticks === ffmpeg.AV_NOPTS_VALUE ? null : Number(ticks) * tick - origin

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
        } else if (packet.streamIndex === index) return true
      }
      return false
    },
    decode: (packet, use) => {
      // To the decoder an empty packet is the end of the stream.
      if (packet.size > 0) feed(packet, use)
    },
    drain: use => {
      feed(null, use)
      decoder.flushBuffers()
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

/** Rates outside of these are made up; a single frame at 1 Hz would be hours of samples. */
function isSound(frame: Frame): boolean {
  return frame.nbSamples > 0 && frame.sampleRate >= 1000 && frame.sampleRate <= 1_000_000
}

function openFormat(ffmpeg: FFmpeg): FormatContext {
  const format = new ffmpeg.FormatContext()
  format.allocContext()
  const options = ffmpeg.Dictionary.fromObject({
    protocol_whitelist: 'fd',
    format_whitelist: containers.join(','),
    codec_whitelist: codecs.join(','),
    probesize: probeBytes,
    analyzeduration: probeMicroseconds,
    // The end of the file is found by reading up to it, not by guessing from a look at it.
    skip_estimate_duration_from_pts: 1,
    ...(shiftsOnly(stdin) && { advanced_editlist: 0 }),
  })
  const opened = format.openInputSync('fd:', null, options)
  if (opened === ffmpeg.AVERROR_ENOMEM) throw new Refused('too-large')
  if (opened < 0) throw new Refused('not-media')
  const found = format.findStreamInfoSync(null)
  if (found === ffmpeg.AVERROR_ENOMEM) throw new Refused('too-large')
  if (found < 0) throw new Refused('not-media')
  return format
}

/** The first audio stream that can be decoded; everything else is left out, pictures of covers too. */
function openAudio(ffmpeg: FFmpeg, format: FormatContext): { stream: Stream; decoder: CodecContext } {
  const streams = format.streams
  const audio = streams.filter(stream => stream.codecpar.codecType === ffmpeg.AVMEDIA_TYPE_AUDIO)
  if (audio.length === 0) throw new Refused('no-audio')
  for (const stream of audio) {
    const decoder = openDecoder(ffmpeg, stream)
    if (!decoder) continue
    for (const other of streams) if (other.index !== stream.index) other.discard = ffmpeg.AVDISCARD_ALL
    return { stream, decoder }
  }
  throw new Refused('no-decoder')
}

function openDecoder(ffmpeg: FFmpeg, stream: Stream): CodecContext | null {
  const codec = ffmpeg.Codec.findDecoder(stream.codecpar.codecId)
  if (!codec || !codecs.includes(codec.name ?? '')) return null
  const decoder = new ffmpeg.CodecContext()
  decoder.allocContext3(codec)
  if (decoder.parametersToContext(stream.codecpar) < 0) return null
  decoder.pktTimebase = stream.timeBase
  const opened = decoder.open2Sync(codec, ffmpeg.Dictionary.fromObject({ threads: 1 }))
  if (opened === ffmpeg.AVERROR_ENOMEM) throw new Refused('too-large')
  return opened < 0 ? null : decoder
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

/** Containers whose clock has a zero of its own: a recording that starts later than zero starts late. */
const zeroed = ['mov', 'matroska', 'avi', 'asf', 'flv', 'nut', 'mxf']
/** A start further out than this is the clock of some recorder, as in a cut-out piece of a live stream. */
const lateStartMax = 60

/**
 * What a player shows as 0:00, in samples. Broadcasts start anywhere, mp3 with its encoder's delay, and a film
 * starts with its first picture or sound: muxers move both alike to make room for reordered pictures.
 */
function originOf(ffmpeg: FFmpeg, format: FormatContext): number {
  if (format.startTime === ffmpeg.AV_NOPTS_VALUE) return 0
  const seconds = Number(format.startTime) / 1e6
  const family = (format.iformat?.name ?? '').split(',')[0]!
  const ownZero = zeroed.includes(family) && Math.abs(seconds) <= lateStartMax && !hasPictures(ffmpeg, format)
  return ownZero ? 0 : seconds * sampleRate
}

function hasPictures(ffmpeg: FFmpeg, format: FormatContext): boolean {
  return format.streams.some(
    ({ codecpar, disposition }) =>
      codecpar.codecType === ffmpeg.AVMEDIA_TYPE_VIDEO &&
      (disposition & ffmpeg.AV_DISPOSITION_ATTACHED_PIC) === 0,
  )
}

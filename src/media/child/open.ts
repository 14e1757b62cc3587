// Opens a file with FFmpeg under three restrictions. FFmpeg reads only from a file descriptor. FFmpeg
// accepts only the listed containers and codecs. Only one audio stream is selected.

import type { CodecContext, FormatContext, Stream } from 'node-av/lib'
import { limits } from '../../limits.ts'
import { Refused } from '../refusals.ts'
import { shiftsOnly } from './edits.ts'
import type { FFmpeg } from './ffmpeg.ts'
import { codecs, containers } from './readable.ts'

/** An open file descriptor `file`, and the offset `from` at which the media begins. */
export type Input = { file: number; from: number }

/**
 * The maximum media time that FFmpeg analyses to find the streams. If the headers are at the end of the
 * file, FFmpeg finds them by seeking.
 */
const probeMicroseconds = 60_000_000

/**
 * Opens a container from its file descriptor. The protocol whitelist prevents FFmpeg from opening any other
 * file or address.
 */
export function openFormat(ffmpeg: FFmpeg, { file, from }: Input): FormatContext {
  const format = new ffmpeg.FormatContext()
  format.allocContext()
  const options = ffmpeg.Dictionary.fromObject({
    protocol_whitelist: 'fd',
    format_whitelist: containers.join(','),
    codec_whitelist: codecs.join(','),
    probesize: limits.mediaProbeBytes,
    analyzeduration: probeMicroseconds,
    // The exact length is measured later, so FFmpeg need not estimate it from the last packets.
    skip_estimate_duration_from_pts: 1,
    ...(shiftsOnly(file) && { advanced_editlist: 0 }),
    ...(from > 0 && { skip_initial_bytes: from }),
    fd: file,
  })
  const opened = format.openInputSync('fd:', null, options)
  if (opened === ffmpeg.AVERROR_ENOMEM) throw new Refused('too-large')
  if (opened < 0) throw new Refused('not-media')
  const found = format.findStreamInfoSync(null)
  if (found === ffmpeg.AVERROR_ENOMEM) throw new Refused('too-large')
  if (found < 0) throw new Refused('not-media')
  return format
}

/**
 * Returns the first audio stream that can be decoded, and its decoder. FFmpeg discards all other streams.
 */
export function openAudio(ffmpeg: FFmpeg, format: FormatContext): { stream: Stream; decoder: CodecContext } {
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

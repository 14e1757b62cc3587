// Opening a file with FFmpeg, inside the child: what may be read, and which stream is taken.

import type { CodecContext, FormatContext, Stream } from 'node-av/lib'
import { Refused } from '../refusals.ts'
import { shiftsOnly } from './edits.ts'
import type { FFmpeg } from './ffmpeg.ts'
import { codecs, containers } from './readable.ts'

/** An open file, and the offset in it at which the media begins. */
export type Place = { file: number; from: number }

/** Enough to find streams that begin late in broadcasts; headers at the end of a file are sought, not probed. */
const probeBytes = 32 * 1024 ** 2
const probeMicroseconds = 60_000_000

/** The file is what stands open at a number: by no name can anything be opened. */
export function openFormat(ffmpeg: FFmpeg, { file, from }: Place): FormatContext {
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

/** The first audio stream that can be decoded; everything else is left out, pictures of covers too. */
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

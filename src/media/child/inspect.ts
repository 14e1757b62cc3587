// The exact length of the audio in a file. The beginning and the end are decoded, so that a file that cannot be played
// is refused and the last sample is known. Between them packets are only counted.

import type { Frame, Packet } from 'node-av/lib'
import type { Inspection } from '../media.ts'
import { Refused } from '../refusals.ts'
import { type Operation, sampleRate } from '../wire.ts'
import type { FFmpeg } from './ffmpeg.ts'
import { linksOf, type Source } from './source.ts'
import { type Span, Timeline } from './timeline.ts'

/** Shorter audio is decoded whole. */
const headSamples = 30 * sampleRate
const tailPackets = 32

export function inspectSource(ffmpeg: FFmpeg, source: Source, { durationMsMax }: Operation): Inspection {
  const timeline = new Timeline(source)
  const samplesMax = (durationMsMax / 1000) * sampleRate
  const ring = Array.from({ length: tailPackets }, () => new ffmpeg.Packet())
  for (const packet of ring) packet.alloc()
  let frames = 0
  let decoded: Pick<Inspection, 'sampleRate' | 'channels'> | null = null

  for (const link of linksOf(source)) {
    measure(link)
    decoded ??= { sampleRate: link.decoder.sampleRate, channels: link.decoder.channels }
    timeline.settle(null)
    timeline.continue()
    if (timeline.position > samplesMax) break
  }
  if (frames === 0 || !decoded) throw new Refused('undecodable')
  const { container, codec } = source
  return { container, codec, ...decoded, durationMs: Math.round((timeline.position / sampleRate) * 1000) }

  function measure(link: Source): void {
    const headEnd = timeline.position + headSamples
    const use = (frame: Frame) => {
      frames += 1
      add(link, link.frameSpan(frame))
    }
    const first = packetAt(0)
    let more = link.read(first)
    for (; more && timeline.position < headEnd; more = link.read(first)) link.decode(first, use)
    link.drain(use)
    if (!more) return
    for (const packet of countPackets(link)) link.decode(packet, use)
    link.drain(use)
  }

  /** Counts each packet that leaves the ring. Gives those that are in it at the end of the file. */
  function countPackets(link: Source): Packet[] {
    let read = 1
    for (; timeline.position <= samplesMax; read++) {
      const packet = packetAt(read)
      const isFull = read >= tailPackets
      if (isFull && !packet.hasFlags(ffmpeg.AV_PKT_FLAG_DISCARD)) add(link, link.packetSpan(packet))
      if (!link.read(packet)) break
    }
    const oldest = Math.max(0, read - tailPackets + 1)
    return Array.from({ length: read - oldest }, (_, index) => packetAt(oldest + index))
  }

  function packetAt(index: number): Packet {
    return ring[index % tailPackets]!
  }

  function add(link: Source, span: Span): void {
    timeline.settle(span.start)
    timeline.place(span, { exact: link.lost })
  }
}

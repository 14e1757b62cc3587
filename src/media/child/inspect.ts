// Inside the child: how long the audio of a file really is. The beginning and the end are decoded, so that
// what cannot be played is found out and the last sample is known; between them packets are only counted.

import type { Frame, Packet } from 'node-av/lib'
import type { Inspection } from '../media.ts'
import { Refused } from '../refusals.ts'
import { sampleRate, type Task } from '../wire.ts'
import type { FFmpeg } from './ffmpeg.ts'
import { linksOf, type Source } from './source.ts'
import { type Span, Timeline } from './timeline.ts'

/** Whatever is shorter is decoded whole. */
const headSamples = 30 * sampleRate
const tailPackets = 32

export function inspect(ffmpeg: FFmpeg, source: Source, { durationMsMax }: Task): Inspection {
  const timeline = new Timeline(source)
  const samplesMax = (durationMsMax / 1000) * sampleRate
  const packets = Array.from({ length: tailPackets }, () => new ffmpeg.Packet())
  for (const packet of packets) packet.alloc()
  let frames = 0
  let heard: Pick<Inspection, 'sampleRate' | 'channels'> | null = null

  for (const link of linksOf(source)) {
    follow(link)
    heard ??= { sampleRate: link.decoder.sampleRate, channels: link.decoder.channels }
    if (timeline.holds) timeline.settle(null)
    timeline.continue()
    if (timeline.position > samplesMax) break
  }
  if (frames === 0 || !heard) throw new Refused('undecodable')
  const { container, codec } = source
  return { container, codec, ...heard, durationMs: Math.round((timeline.position / sampleRate) * 1000) }

  function follow(link: Source): void {
    const headEnd = timeline.position + headSamples
    const use = (frame: Frame) => {
      frames += 1
      add(link, link.frameSpan(frame))
    }
    const first = packets[0]!
    let more = link.read(first)
    for (; more && timeline.position < headEnd; more = link.read(first)) link.decode(first, use)
    link.drain(use)
    if (!more) return
    for (const packet of countPackets(link)) link.decode(packet, use)
    link.drain(use)
  }

  /** A ring: the packet that falls out of it is counted, those still in it at the end are given out. */
  function countPackets(link: Source): Packet[] {
    let read = 1
    for (; timeline.position <= samplesMax; read++) {
      const slot = packets[read % tailPackets]!
      const full = read >= tailPackets
      if (full && !slot.hasFlags(ffmpeg.AV_PKT_FLAG_DISCARD)) add(link, link.packetSpan(slot))
      if (!link.read(slot)) break
    }
    const oldest = Math.max(0, read - tailPackets + 1)
    return Array.from({ length: read - oldest }, (_, i) => packets[(oldest + i) % tailPackets]!)
  }

  function add(link: Source, span: Span): void {
    if (timeline.holds) timeline.settle(span.start)
    timeline.place(span, { exact: link.lost })
  }
}

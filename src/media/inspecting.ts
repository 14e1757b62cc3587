// Inside the child: how long the audio of a file really is. The beginning and the end are decoded, so that
// what cannot be played is found out and the last sample is known; between them packets are only counted.

import type { FFmpeg } from './child.ts'
import type { Inspection } from './media.ts'
import { Refused } from './refusals.ts'
import type { Source } from './source.ts'
import { type Span, Timeline } from './timeline.ts'
import { sampleRate, type Task } from './wire.ts'

/** Whatever is shorter is decoded whole. */
const headSamples = 30 * sampleRate
const tailPackets = 32

export function inspect(ffmpeg: FFmpeg, source: Source, { durationMsMax }: Task): Inspection {
  const timeline = new Timeline(source)
  let frames = 0
  const add = (span: Span) => {
    if (timeline.holds) timeline.settle(span.start)
    timeline.place(span, { exact: source.lost })
  }
  const use = (frame: Parameters<Source['frameSpan']>[0]) => {
    frames += 1
    add(source.frameSpan(frame))
  }
  const packets = Array.from({ length: tailPackets }, () => new ffmpeg.Packet())
  for (const packet of packets) packet.alloc()

  const first = packets[0]!
  let more = source.read(first)
  for (; more && timeline.position < headSamples; more = source.read(first)) source.decode(first, use)
  source.drain(use)
  if (more) {
    countPackets()
    source.drain(use)
  }
  if (timeline.holds) timeline.settle(null)
  if (frames === 0) throw new Refused('undecodable')
  const { sampleRate: rate, channels } = source.decoder
  const durationMs = Math.round((timeline.position / sampleRate) * 1000)
  return { container: source.container, codec: source.codec, sampleRate: rate, channels, durationMs }

  /** A ring: the packet that falls out of it is counted, those still in it at the end are decoded. */
  function countPackets(): void {
    const samplesMax = (durationMsMax / 1000) * sampleRate
    let read = 1
    for (; timeline.position <= samplesMax; read++) {
      const slot = packets[read % tailPackets]!
      if (read >= tailPackets && !slot.hasFlags(ffmpeg.AV_PKT_FLAG_DISCARD)) add(source.packetSpan(slot))
      if (!source.read(slot)) break
    }
    const oldest = Math.max(0, read - tailPackets + 1)
    for (let number = oldest; number < read; number++) source.decode(packets[number % tailPackets]!, use)
  }
}

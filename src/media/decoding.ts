// Inside the child: the audio of a file as 16 kHz mono float on the time line that a player shows.

import type { Frame } from 'node-av/lib'
import type { FFmpeg } from './child.ts'
import { Output } from './output.ts'
import { Resampler } from './resampler.ts'
import type { Source } from './source.ts'
import { type Placement, Timeline } from './timeline.ts'
import { type Decoded, samplesMax, type Task } from './wire.ts'

export function decode(ffmpeg: FFmpeg, source: Source, { durationMsMax, tell }: Task): Decoded {
  const output = new Output(tell, samplesMax(durationMsMax))
  const resampler = new Resampler(ffmpeg, samples => output.write(samples))
  const timeline = new Timeline(source)
  const held = new ffmpeg.Frame()
  held.alloc()

  const put = (frame: Frame, { silence, skip }: Placement) => {
    const { length } = source.frameSpan(frame)
    if (silence >= 1) {
      resampler.flush()
      output.writeSilence(Math.round(timeline.position - length) - output.written)
    }
    if (skip < length && !resampler.convert(frame, { skip })) source.damaged += 1
  }
  const use = (frame: Frame) => {
    const span = source.frameSpan(frame)
    if (timeline.holds) put(held, timeline.settle(span.start))
    const placement = timeline.place(span, { exact: source.lost })
    if (placement) put(frame, placement)
    else {
      held.unref()
      held.ref(frame)
    }
    output.keepAlive()
  }

  const packet = new ffmpeg.Packet()
  packet.alloc()
  while (source.read(packet)) source.decode(packet, use)
  source.drain(use)
  if (timeline.holds) put(held, timeline.settle(null))
  resampler.flush()
  output.flush()
  return { samples: output.written, damaged: source.damaged }
}

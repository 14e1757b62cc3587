// The audio of a file as 16 kHz mono samples, on the time line that a player shows.

import type { Frame } from 'node-av/lib'
import { type DecodeResult, type Operation, samplesMax } from '../wire.ts'
import type { FFmpeg } from './ffmpeg.ts'
import { Output } from './output.ts'
import { Resampler } from './resampler.ts'
import { linksOf, type Source } from './source.ts'
import { type Placement, Timeline } from './timeline.ts'

export function decodeSource(
  ffmpeg: FFmpeg,
  source: Source,
  { durationMsMax, send }: Operation,
): DecodeResult {
  const output = new Output(send, samplesMax(durationMsMax))
  const resampler = new Resampler(ffmpeg, samples => output.write(samples))
  const timeline = new Timeline(source)
  const held = new ffmpeg.Frame()
  held.alloc()
  let damaged = 0

  const put = (frame: Frame, { silence, skip }: Placement) => {
    const { length } = source.frameSpan(frame)
    if (silence >= 1) {
      resampler.flush()
      output.writeSilence(Math.round(timeline.position - length) - output.written)
    }
    if (skip < length && !resampler.convert(frame, { skip })) {
      damaged += 1
      resampler.flush()
      output.writeSilence(Math.round(timeline.position) - output.written)
    }
  }
  const putHeld = (nextStart: number | null) => {
    const placement = timeline.settle(nextStart)
    if (placement) put(held, placement)
  }
  const use = (link: Source, frame: Frame) => {
    const span = link.frameSpan(frame)
    putHeld(span.start)
    const placement = timeline.place(span, { exact: link.lost })
    if (placement) put(frame, placement)
    else {
      held.unref()
      held.ref(frame)
    }
    output.keepAlive()
  }

  const packet = new ffmpeg.Packet()
  packet.alloc()
  for (const link of linksOf(source)) {
    while (link.read(packet)) link.decode(packet, frame => use(link, frame))
    link.drain(frame => use(link, frame))
    putHeld(null)
    timeline.continue()
    damaged += link.damaged
  }
  resampler.flush()
  output.flush()
  return { samples: output.written, damaged }
}

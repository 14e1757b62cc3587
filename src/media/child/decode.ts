// Decodes the audio of a file to 16 kHz mono samples. The time of each sample is the time that a media
// player shows.

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
  const track = new Track(ffmpeg, source, output)
  const packet = new ffmpeg.Packet()
  packet.alloc()
  let damaged = 0
  for (const link of linksOf(source)) {
    const add = (frame: Frame) => track.add(frame, link)
    while (link.read(packet)) {
      link.decode(packet, add)
      output.keepAlive()
    }
    link.drain(add)
    track.endLink()
    damaged += link.damaged
  }
  track.flush()
  output.flush()
  return { samples: output.written, damaged: damaged + track.damaged }
}

/** Writes each frame to the output at its place on the timeline. */
class Track {
  /** The number of frames that the resampler could not convert. Silence replaces these frames. */
  damaged = 0
  readonly #source: Source
  readonly #output: Output
  readonly #resampler: Resampler
  readonly #timeline: Timeline
  /** The last frame, if its placement depends on the next frame. Otherwise this frame is empty. */
  readonly #held: Frame

  constructor(ffmpeg: FFmpeg, source: Source, output: Output) {
    this.#source = source
    this.#output = output
    this.#resampler = new Resampler(ffmpeg, samples => output.write(samples))
    this.#timeline = new Timeline(source)
    this.#held = new ffmpeg.Frame()
    this.#held.alloc()
  }

  add(frame: Frame, link: Source): void {
    const span = link.frameSpan(frame)
    this.#write(this.#held, this.#timeline.settle(span.start))
    const placement = this.#timeline.place(span, { exact: link.lost })
    if (placement) this.#write(frame, placement)
    else {
      this.#held.unref()
      this.#held.ref(frame)
    }
  }

  /** Ends one link of a chained file (links.ts). The next frame is then the first frame of the next link. */
  endLink(): void {
    this.#write(this.#held, this.#timeline.settle(null))
    this.#timeline.continue()
  }

  flush(): void {
    this.#resampler.flush()
  }

  #write(frame: Frame, placement: Placement | null): void {
    if (!placement) return
    const { silence, skip } = placement
    const { length } = this.#source.frameSpan(frame)
    if (silence >= 1) this.#writeSilenceTo(this.#timeline.position - length)
    if (skip < length && !this.#resampler.convert(frame, { skip })) {
      this.damaged += 1
      this.#writeSilenceTo(this.#timeline.position)
    }
  }

  #writeSilenceTo(position: number): void {
    this.#resampler.flush()
    this.#output.writeSilence(Math.round(position) - this.#output.written)
  }
}

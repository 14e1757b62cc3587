// Measures the exact length of the audio in a file. The beginning of the audio is decoded to refuse a file
// that cannot be played. The end is decoded to find the last sample. The packets between the beginning and
// the end are only counted.

import type { Frame, Packet } from 'node-av/lib'
import { limits } from '../../limits.ts'
import type { Inspection } from '../media.ts'
import { Refused } from '../refusals.ts'
import { type Operation, sampleRate } from '../wire.ts'
import type { FFmpeg } from './ffmpeg.ts'
import { linksOf, type Source } from './source.ts'
import { type Span, Timeline } from './timeline.ts'

/** This many samples at the beginning are decoded. Shorter audio is decoded completely. */
const headSamples = 30 * sampleRate
const tailPackets = 32
/**
 * The rounding tolerance, in samples. It is larger than the rounding error that additions over ten hours
 * cause, and smaller than one sample at any sample rate.
 */
const fractionError = 0.001

export function inspectSource(ffmpeg: FFmpeg, source: Source, { durationMsMax }: Operation): Inspection {
  const samplesMax = (durationMsMax / 1000) * sampleRate
  const meter = new Meter(ffmpeg, source, samplesMax)
  let decoded: Pick<Inspection, 'sampleRate' | 'channels'> | null = null
  for (const link of linksOf(source)) {
    meter.measure(link)
    decoded ??= { sampleRate: link.decoder.sampleRate, channels: link.decoder.channels }
    if (meter.samples > samplesMax) break
  }
  if (meter.frames === 0 || !decoded) throw new Refused('undecodable')
  const { container, codec } = source
  return { container, codec, ...decoded, durationMs: wholeMs(meter.samples) }
}

/**
 * Converts samples to whole milliseconds, rounded down. Audio that is one sample shorter than a second must
 * not count as a full second.
 */
function wholeMs(samples: number): number {
  return Math.floor(((samples + fractionError) / sampleRate) * 1000)
}

/** Measures the links of a file (links.ts), one after another, until the total exceeds `samplesMax`. */
class Meter {
  /** The number of frames that were decoded. */
  frames = 0
  /** The number of damaged packets at the beginning of each previous link, added up. */
  #damaged = 0
  readonly #ffmpeg: FFmpeg
  readonly #timeline: Timeline
  readonly #samplesMax: number
  readonly #ring: Packet[]

  constructor(ffmpeg: FFmpeg, source: Source, samplesMax: number) {
    this.#ffmpeg = ffmpeg
    this.#timeline = new Timeline(source)
    this.#samplesMax = samplesMax
    this.#ring = Array.from({ length: tailPackets }, () => new ffmpeg.Packet())
    for (const packet of this.#ring) packet.alloc()
  }

  get samples(): number {
    return this.#timeline.position
  }

  measure(link: Source): void {
    this.#decodeEnds(link)
    this.#timeline.settle(null)
    this.#timeline.continue()
  }

  #decodeEnds(link: Source): void {
    const headEnd = this.samples + headSamples
    const add = (frame: Frame) => {
      this.frames += 1
      this.#add(link, link.frameSpan(frame))
    }
    const first = this.#packetAt(0)
    let more = link.read(first)
    for (; more && this.samples < headEnd; more = link.read(first)) {
      link.decode(first, add)
      if (this.#damaged + link.damaged > limits.mediaDamagedPacketsMax) throw new Refused('undecodable')
    }
    link.drain(add)
    this.#damaged += link.damaged
    if (!more) return
    for (const packet of this.#countPackets(link)) link.decode(packet, add)
    link.drain(add)
  }

  /**
   * Reads the packets up to the end of the file. Counts each packet that leaves the ring buffer. Returns the
   * last packets of the file, which are still in the ring buffer.
   */
  #countPackets(link: Source): Packet[] {
    let read = 1
    for (; this.samples <= this.#samplesMax; read++) {
      const packet = this.#packetAt(read)
      const isFull = read >= tailPackets
      if (isFull && !packet.hasFlags(this.#ffmpeg.AV_PKT_FLAG_DISCARD))
        this.#add(link, link.packetSpan(packet))
      if (!link.read(packet)) break
    }
    const oldest = Math.max(0, read - tailPackets + 1)
    return Array.from({ length: read - oldest }, (_, index) => this.#packetAt(oldest + index))
  }

  #packetAt(index: number): Packet {
    return this.#ring[index % tailPackets]!
  }

  #add(link: Source, span: Span): void {
    this.#timeline.settle(span.start)
    this.#timeline.place(span, { exact: link.lost })
  }
}

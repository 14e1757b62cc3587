// Writes two kinds of CAF files for the tests: files with the AAC sound of aac.m4a, and files with two channels of
// samples as 32-bit floats.

import { packetsOf } from './fragments.ts'

const packetSamples = 1024

type CafLayout = {
  /** The number of samples that a player skips at the beginning of the sound. It may be more than a packet. */
  priming?: number
  /** The number of samples that a player leaves out at the end. */
  remainder?: number
  /** If true, the packet table has the size and the duration of each packet. If false, it has only the size. */
  listsDurations?: boolean
  /** The packets of sound. By default, they are all packets of aac.m4a. */
  packets?: Buffer[]
}

/** Returns a CAF file that repeats packets of `file`, which is aac.m4a. */
export function repeatedCaf(file: Buffer, repetitions: number, layout: CafLayout = {}): Buffer {
  const { priming = 0, remainder = 0, listsDurations = false, packets = packetsOf(file) } = layout
  const entries = packets.map(packet =>
    Buffer.from([...bits(packet.length), ...(listsDurations ? bits(packetSamples) : [])]),
  )
  const count = repetitions * packets.length
  const head = Buffer.alloc(24)
  head.writeBigUInt64BE(BigInt(count))
  head.writeBigUInt64BE(BigInt(count * packetSamples - priming - remainder), 8)
  head.writeUInt32BE(priming, 16)
  head.writeUInt32BE(remainder, 20)
  const repeat = (parts: Buffer[]) => Array<Buffer>(repetitions).fill(Buffer.concat(parts))
  return Buffer.concat([
    Buffer.from('caff\0\x01\0\0', 'latin1'),
    chunk('desc', descriptionOf(listsDurations ? 0 : packetSamples)),
    chunk('kuki', codecOf(file)),
    chunk('pakt', Buffer.concat([head, ...repeat(entries)])),
    chunk('data', Buffer.concat([Buffer.alloc(4), ...repeat(packets)])),
  ])
}

/**
 * Returns a CAF file of 32-bit floats at 16 kHz. `pairs` has the interleaved samples of both channels. `labels` has
 * Apple's number for the loudspeaker of each channel.
 */
export function pairCaf(pairs: Float32Array, labels: [number, number]): Buffer {
  const description = Buffer.alloc(32)
  description.writeDoubleBE(16_000)
  description.write('lpcm', 8, 'latin1')
  description.set(
    [3, 8, 1, 2, 32].flatMap(number => [0, 0, 0, number]),
    12,
  )
  const speakers = Buffer.alloc(12 + 2 * 20)
  speakers.writeUInt32BE(2, 8)
  for (const [at, label] of labels.entries()) speakers.writeUInt32BE(label, 12 + at * 20)
  return Buffer.concat([
    Buffer.from('caff\0\x01\0\0', 'latin1'),
    chunk('desc', description),
    chunk('chan', speakers),
    chunk('data', Buffer.concat([Buffer.alloc(4), new Uint8Array(pairs.buffer)])),
  ])
}

function descriptionOf(samples: number): Buffer {
  const description = Buffer.alloc(32)
  description.writeDoubleBE(44_100)
  description.write('aac ', 8, 'latin1')
  description.writeUInt32BE(samples, 20)
  description.writeUInt32BE(1, 24)
  return description
}

/** Returns the content of the box `esds` (the description of the codec) without the version of the box. */
function codecOf(file: Buffer): Buffer {
  const at = file.indexOf('esds', 0, 'latin1')
  return file.subarray(at + 8, at - 4 + file.readUInt32BE(at - 4))
}

/**
 * Returns the bytes of a number below 16,384 in the packet table: seven bits in each byte. The top bit of a byte is set
 * if another byte follows.
 */
function bits(value: number): number[] {
  return value < 128 ? [value] : [128 | (value >> 7), value & 127]
}

function chunk(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(12)
  head.write(type, 'latin1')
  head.writeBigUInt64BE(BigInt(content.length), 4)
  return Buffer.concat([head, content])
}

// Writes WAV files of 32-bit floats at the sample rate of the decoder.

import { wavHeader } from '../support/sound.ts'
import { sampleRate } from './tones.ts'

const float = 3
const extensible = 0xfffe
/** The end of the extensible header, which says that the samples are floats. */
const floatKind = Buffer.from('0300000000001000800000aa00389b71', 'hex')

/**
 * Builds a WAV file. `mask` names the loudspeaker of each channel in Microsoft's extensible header. Without `mask`, the
 * file has the plain header.
 */
export function floatWav(channels: Float32Array[], mask?: number): Buffer {
  const [first = new Float32Array(0)] = channels
  const samples = Float32Array.from([...first].flatMap((_, at) => channels.map(each => each[at] ?? 0)))
  const format = { sampleRate, channels: channels.length, bytesPerSample: 4 }
  const header = Buffer.from(wavHeader(samples.byteLength, format))
  header.writeUInt16LE(mask === undefined ? float : extensible, 20)
  const more = mask === undefined ? Buffer.alloc(0) : speakers(mask)
  header.writeUInt32LE(16 + more.length, 16)
  header.writeUInt32LE(36 + more.length + samples.byteLength, 4)
  return Buffer.concat([header.subarray(0, 36), more, header.subarray(36), new Uint8Array(samples.buffer)])
}

function speakers(mask: number): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt16LE(22, 0)
  head.writeUInt16LE(32, 2)
  head.writeUInt32LE(mask, 4)
  return Buffer.concat([head, floatKind])
}

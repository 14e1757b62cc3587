// Changes the packets of FLV files. A packet has a head of 11 bytes, a content, and its size in 4 bytes.

import { numbers } from './boxes.ts'

const headerBytes = 13
const headBytes = 11
const pictureType = 9

/** Returns the packets of the file. Each returned buffer has the head and the content of one packet. */
function packetsOf(file: Buffer): Buffer[] {
  const packets: Buffer[] = []
  for (let at = headerBytes; at < file.length; at += packets.at(-1)!.length + 4)
    packets.push(file.subarray(at, at + headBytes + file.readUIntBE(at + 1, 3)))
  return packets
}

/**
 * Appends zeros to the content of each picture packet until the content has `bytes` bytes. Writes each of these packets
 * `times` times.
 */
export function withLargePictures(file: Buffer, bytes: number, times: number): Buffer {
  const parts = [file.subarray(0, headerBytes)]
  for (const packet of packetsOf(file)) {
    const isPicture = packet[0] === pictureType
    const larger = isPicture ? Buffer.concat([packet], headBytes + bytes) : packet
    if (isPicture) larger.writeUIntBE(bytes, 1, 3)
    for (let i = isPicture ? times : 1; i > 0; i--) parts.push(larger, numbers(larger.length))
  }
  return Buffer.concat(parts)
}

/** Replaces the size after each packet by the sum of all packet sizes so far. Some programs write such files. */
export function withSums(file: Buffer): Buffer {
  const parts = [file.subarray(0, headerBytes)]
  let sum = 0
  for (const packet of packetsOf(file)) {
    sum += packet.length
    parts.push(packet, numbers(sum))
  }
  return Buffer.concat(parts)
}

/** Returns the offset of the end of the packet with the index `last`. The 4 bytes of its size are included. */
export function endOfPacket(file: Buffer, last: number): number {
  return packetsOf(file)
    .slice(0, last + 1)
    .reduce((at, packet) => at + packet.length + 4, headerBytes)
}

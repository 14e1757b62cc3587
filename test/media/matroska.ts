// Makes Matroska files with parts that the fixtures do not have.

const firstCluster = Buffer.from([0x1f, 0x43, 0xb6, 0x75])

/**
 * Returns the file with an attachment before its first cluster, which contains the first packets. The header of the
 * given file must not contain the length of the file, because the attachment would make this length wrong.
 */
export function withAttachment(file: Buffer, bytes: number): Buffer {
  const attachment = Buffer.concat([
    element('466e', Buffer.from('font.ttf')),
    element('4660', Buffer.from('font/ttf')),
    element('46ae', Buffer.from([1])),
    element('465c', Buffer.alloc(bytes)),
  ])
  const at = file.indexOf(firstCluster)
  return Buffer.concat([
    file.subarray(0, at),
    element('1941a469', element('61a7', attachment)),
    file.subarray(at),
  ])
}

/**
 * Returns a Matroska file with one track of uncompressed sound: 16-bit samples at 16 kHz, a tenth of a second in each
 * packet. `encodings` are the contents of the elements ContentEncoding of the track. `encode` is applied to each packet.
 */
export function withEncodings(
  samples: Float32Array,
  encodings: Buffer[],
  encode: (packet: Buffer) => Buffer = packet => packet,
): Buffer {
  const bytes = Buffer.from(Int16Array.from(samples, sample => Math.round(sample * 32_767)).buffer)
  const [rate, packetMs] = [Buffer.alloc(8), 100]
  rate.writeDoubleBE(16_000)
  const packetBytes = (2 * 16_000 * packetMs) / 1000
  const blocks = Array.from({ length: Math.ceil(bytes.length / packetBytes) }, (_, i) => {
    // The number of the track, the time in milliseconds, and the flags of a packet that needs no other packet.
    const head = Buffer.from([0x81, 0, 0, 0x80])
    head.writeInt16BE(i * packetMs, 1)
    return element('a3', head, encode(bytes.subarray(i * packetBytes, (i + 1) * packetBytes)))
  })
  const track = [
    element('d7', Buffer.from([1])),
    element('73c5', Buffer.from([1])),
    element('83', Buffer.from([2])),
    element('86', Buffer.from('A_PCM/INT/LIT')),
    element('e1', element('b5', rate), element('9f', Buffer.from([1])), element('6264', Buffer.from([16]))),
    ...(encodings.length > 0 ? [element('6d80', ...encodings.map(each => element('6240', each)))] : []),
  ]
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('matroska'))),
    element(
      '18538067',
      element('1549a966', element('2ad7b1', Buffer.from([0x0f, 0x42, 0x40]))),
      element('1654ae6b', element('ae', ...track)),
      element('1f43b675', element('e7', Buffer.from([0])), ...blocks),
    ),
  ])
}

/** Returns the content of an element ContentEncoding: the packets are compressed. `kind` 0 means zlib. */
export function compression(kind: number, settings = Buffer.alloc(0)): Buffer {
  return element('5034', element('4254', Buffer.from([kind])), element('4255', settings))
}

/** Returns the content of an element ContentEncoding: the packets are encrypted with AES. */
export function encryption(keyId: Buffer): Buffer {
  return Buffer.concat([
    element('5033', Buffer.from([1])),
    element('5035', element('47e1', Buffer.from([5])), element('47e2', keyId)),
  ])
}

/** Returns a Matroska element. The size of the element is written as a number of eight bytes. */
function element(id: string, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE(BigInt(content.length))
  size[0] = 1
  return Buffer.concat([Buffer.from(id, 'hex'), size, content])
}

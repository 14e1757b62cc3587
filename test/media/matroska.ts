// Makes Matroska files with features that the fixtures lack.

const firstCluster = Buffer.from([0x1f, 0x43, 0xb6, 0x75])

/**
 * Returns the file with an attachment before its first packets. The header of the file must not state the file's
 * length, which the attachment changes.
 */
export function withAttachment(file: Buffer, bytes: number): Buffer {
  const at = file.indexOf(firstCluster)
  return Buffer.concat([file.subarray(0, at), attachment(bytes), file.subarray(at)])
}

/** The structure of a file that `withEncodings` writes. */
interface Arrangement {
  /** The number of empty subtitle tracks before the track of sound. */
  subtitles?: number
  /** If true, the segment and the cluster have an unknown size, as in a live recording. */
  isStreamed?: boolean
  /** If true, there is unused space between the header of the file and the segment. */
  hasGap?: boolean
  /** If true, each encoding of the track is in an element ContentEncodings of its own. */
  isSplit?: boolean
  /**
   * If given, the tracks and the attachment come after the cluster. A list at the start of the segment (the element
   * SeekHead) has their positions. With `in another list`, the list at the start has only the position of a second
   * list, and the second list has their positions.
   */
  behind?: 'in the first list' | 'in another list'
  attachmentBytes?: number
}

/**
 * Returns a Matroska file of 16-bit samples at 16 kHz, in packets of 100 ms. `encodings` are the contents of the
 * track's elements ContentEncoding. `encode` is applied to each packet.
 */
export function withEncodings(
  samples: Float32Array,
  encodings: Buffer[],
  encode: (packet: Buffer) => Buffer = packet => packet,
  arrangement: Arrangement = {},
): Buffer {
  const { subtitles = 0, isStreamed = false, hasGap = false, isSplit = false, behind } = arrangement
  const bytes = pcmOf(samples)
  const packetMs = 100
  const packetBytes = (2 * 16_000 * packetMs) / 1000
  const blocks = Array.from({ length: Math.ceil(bytes.length / packetBytes) }, (_, i) => {
    // The header of a packet: the track number, the time in milliseconds, and the flags of a key frame.
    const head = Buffer.from([0x81, 0, 0, 0x80])
    head.writeInt16BE(i * packetMs, 1)
    return element('a3', head, encode(bytes.subarray(i * packetBytes, (i + 1) * packetBytes)))
  })
  const contents = encodings.map(each => element('6240', each))
  const groups = isSplit ? contents.map(each => [each]) : contents.length > 0 ? [contents] : []
  const track = pcmTrack(...groups.map(group => element('6d80', ...group)))
  const tracks = element('1654ae6b', ...Array.from({ length: subtitles }, (_, i) => subtitle(i + 2)), track)
  const write = isStreamed ? streamed : element
  const cluster = write('1f43b675', element('e7', Buffer.from([0])), ...blocks)
  const attachments = arrangement.attachmentBytes ? [attachment(arrangement.attachmentBytes)] : []
  const parts = behind
    ? listed(cluster, [tracks, ...attachments], behind === 'in another list')
    : [fileInfo, tracks, ...attachments, cluster]
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('matroska'))),
    ...(hasGap ? [element('ec', Buffer.alloc(100))] : []),
    write('18538067', ...parts),
  ])
}

/** Describes a file whose times are in milliseconds. */
const fileInfo = element('1549a966', element('2ad7b1', Buffer.from([0x0f, 0x42, 0x40])))

/** Returns the description of a track of 16-bit samples at 16 kHz, with the given elements at its end. */
function pcmTrack(...more: Buffer[]): Buffer {
  const rate = Buffer.alloc(8)
  rate.writeDoubleBE(16_000)
  return element(
    'ae',
    element('d7', Buffer.from([1])),
    element('73c5', Buffer.from([1])),
    element('83', Buffer.from([2])),
    element('86', Buffer.from('A_PCM/INT/LIT')),
    element('e1', element('b5', rate), element('9f', Buffer.from([1])), element('6264', Buffer.from([16]))),
    ...more,
  )
}

function pcmOf(samples: Float32Array): Buffer {
  return Buffer.from(Int16Array.from(samples, sample => Math.round(sample * 32_767)).buffer)
}

/** A packet that begins at `atMs`. Its length in the file, `lengthMs`, may differ from the length of `samples`. */
type Packet = { atMs: number; lengthMs: number; samples: Float32Array }

/** Returns a Matroska file of uncompressed sound at 16 kHz. */
export function withTimes(packets: Packet[]): Buffer {
  const clusters = packets.map(({ atMs, lengthMs, samples }) => {
    const block = element('a1', Buffer.from([0x81, 0, 0, 0x80]), pcmOf(samples))
    return element(
      '1f43b675',
      element('e7', number(atMs)),
      element('a0', block, element('9b', number(lengthMs))),
    )
  })
  return Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('matroska'))),
    element('18538067', fileInfo, element('1654ae6b', pcmTrack()), ...clusters),
  ])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

/**
 * Returns the elements of a segment. The first element lists the positions of the elements `last`, which come at the
 * end. If `hasOtherList` is true, the first element has only the position of a second list with these positions.
 */
function listed(cluster: Buffer, last: Buffer[], hasOtherList: boolean): Buffer[] {
  const list = (parts: Buffer[], from: number) => {
    const entries = parts.map((part, i) => {
      const offset = Buffer.alloc(8)
      offset.writeBigUInt64BE(BigInt(from + sum(parts.slice(0, i))))
      return element('4dbb', element('53ab', part.subarray(0, 4)), element('53ac', offset))
    })
    return element('114d9b74', ...entries)
  }
  const sum = (parts: Buffer[]) => parts.reduce((bytes, part) => bytes + part.length, 0)
  // `named` has the elements whose positions the first list (the element SeekHead) gives: the second list if there is
  // one, otherwise the elements `last`. These positions depend on the lengths of the lists. Each position takes eight
  // bytes, so a list with wrong positions has the right length. So the lists are first made with wrong positions, only
  // for their lengths. `other` contains the second list with the right positions. It is empty if there is no second
  // list.
  const named = hasOtherList ? [list(last, 0)] : last
  const from = list(named, 0).length + fileInfo.length + cluster.length
  const other = hasOtherList ? [list(last, from + named[0]!.length)] : []
  return [list(hasOtherList ? other : last, from), fileInfo, cluster, ...other, ...last]
}

/**
 * Returns a subtitle track with as many elements as a video editing program writes. A file may contain many such tracks
 * before the track of sound. steno's reader of Matroska files (matroska.c) reads only a limited number of elements in a
 * file. The tests check that the reader still reaches the track of sound.
 */
function subtitle(number: number): Buffer {
  const flags = ['b9', '88', '55aa', '55ab', '55ac', '55ae', '55af', '9c', '6de7', '55ee', 'aa']
  return element(
    'ae',
    element('d7', Buffer.from([number])),
    element('73c5', Buffer.from([number])),
    element('83', Buffer.from([0x11])),
    ...flags.map(flag => element(flag, Buffer.from([0]))),
    element('536e', Buffer.from(`Subtitles ${number}`)),
    element('22b59c', Buffer.from('eng')),
    element('86', Buffer.from('S_TEXT/UTF8')),
    element('6d80', element('6240', compression(0))),
  )
}

function attachment(bytes: number): Buffer {
  const file = element(
    '61a7',
    element('466e', Buffer.from('font.ttf')),
    element('4660', Buffer.from('font/ttf')),
    element('46ae', Buffer.from([1])),
    element('465c', Buffer.alloc(bytes)),
  )
  return element('1941a469', file)
}

/**
 * Returns the content of an element ContentEncoding for compressed packets. `kind` is 0 for zlib, 1 for bzlib, and 3
 * for header stripping. Header stripping removes the bytes `settings` from each packet's start.
 */
export function compression(kind: number, settings = Buffer.alloc(0)): Buffer {
  return element('5034', element('4254', Buffer.from([kind])), element('4255', settings))
}

/** Returns the content of an element ContentEncoding for packets that are encrypted with AES. */
export function encryption(keyId: Buffer): Buffer {
  return Buffer.concat([
    element('5033', Buffer.from([1])),
    element('5035', element('47e1', Buffer.from([5])), element('47e2', keyId)),
  ])
}

/** Returns a Matroska element. The size of the element is written in eight bytes. */
function element(id: string, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE(BigInt(content.length))
  size[0] = 1
  return Buffer.concat([Buffer.from(id, 'hex'), size, content])
}

/**
 * Returns a Matroska element of unknown size. The next element of its kind, or the end of the file, ends the element.
 */
function streamed(id: string, ...contents: Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(id, 'hex'), Buffer.from('01ffffffffffffff', 'hex'), ...contents])
}

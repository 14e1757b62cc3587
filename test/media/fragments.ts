// Writes fragmented MP4 files with the sound of aac.m4a.

import { box, moveIndex, numbers, rewrite } from './boxes.ts'

export type Layout = {
  /**
   * The place from which the file counts the offsets of the sound data. `fragment` or `file`: each fragment says that
   * this place is the start of the fragment or of the file. `none`: the fragments do not say the place. A program must
   * then count from the start of the fragment.
   */
  base?: 'fragment' | 'file' | 'none'
  /**
   * If false, the fragments have no start time (box `tfdt`). Each fragment then starts where the previous one ended.
   */
  isTimed?: boolean
  /** The number of packet tables (boxes `trun`) in each fragment. */
  runs?: number
  /**
   * The box that gives the sizes and durations of the packets. `packet`: the box `trun` in the fragment, separately for
   * each packet. `part`: the box `tfhd` in the fragment, one size and duration for all its packets. `track`: the box
   * `trex` in `moov`, one size and duration for all packets of the track.
   */
  defaults?: 'packet' | 'part' | 'track'
  /** If true, the file has a box `sidx`, which lists the fragments. */
  hasIndex?: boolean
  /**
   * The length of a silent gap before the second half of the fragments, in samples. With a negative length, the two
   * halves overlap.
   */
  gap?: number
  /** The size, in bytes, of the padding in the box `moov`, which describes the tracks. */
  padding?: number
}

const packetSamples = 1024
const track = 1

/** Returns the packets of aac.m4a. The packets follow each other directly, because the file has only one chunk. */
export function packetsOf(file: Buffer): Buffer[] {
  const sizes = file.indexOf('stsz', 0, 'latin1') + 12
  let at = file.readUInt32BE(file.indexOf('stco', 0, 'latin1') + 12)
  return Array.from({ length: file.readUInt32BE(sizes) }, (_, packet) => {
    const size = file.readUInt32BE(sizes + 4 + 4 * packet)
    at += size
    return file.subarray(at - size, at)
  })
}

/** Returns a fragmented MP4 file with the given packets. Each fragment contains up to `perFragment` packets. */
export function fragmented(
  file: Buffer,
  packets: Buffer[],
  perFragment: number,
  layout: Layout = {},
): Buffer {
  const head = Buffer.concat([typeOf(file), movieOf(file, packets[0]!.length, layout)])
  const indexBytes = layout.hasIndex ? 32 + 12 * Math.ceil(packets.length / perFragment) : 0
  const fragments = fragmentsOf(packets, perFragment, 0, head.length + indexBytes, layout)
  const index = layout.hasIndex ? [indexOf(fragments, perFragment)] : []
  return Buffer.concat([head, ...index, ...fragments])
}

/**
 * Returns fragments with the given packets. `before` is the number of packets before these fragments. `from` is the
 * offset of the first fragment in the file, in bytes.
 */
function fragmentsOf(
  packets: Buffer[],
  perFragment: number,
  before: number,
  from: number,
  layout: Layout,
): Buffer[] {
  const groups: Buffer[][] = []
  for (let at = 0; at < packets.length; at += perFragment) groups.push(packets.slice(at, at + perFragment))
  let time = before * packetSamples
  let offset = from
  return groups.map((group, number) => {
    if (number === groups.length >> 1) time += layout.gap ?? 0
    const fragment = fragmentOf(group, time, offset, layout)
    time += group.length * packetSamples
    offset += fragment.length
    return fragment
  })
}

/**
 * Returns a copy of `file` (aac.m4a) with more packets, which are in fragments at its end. The tables in the box `moov`
 * list only the old packets. Some recorders write such files.
 */
export function withFragments(
  file: Buffer,
  packets: Buffer[],
  perFragment: number,
  layout: Layout = {},
): Buffer {
  const head = moveIndex(file, index =>
    Buffer.concat([index, extensionOf(packets[0]!.length, layout), paddingOf(layout)]),
  )
  return Buffer.concat([
    head,
    ...fragmentsOf(packets, perFragment, packetsOf(file).length, head.length, layout),
  ])
}

function typeOf(file: Buffer): Buffer {
  return file.subarray(0, file.readUInt32BE(0))
}

/** Returns the box `moov`, which describes the tracks of the file. The tables that list packets are empty. */
function movieOf(file: Buffer, size: number, layout: Layout): Buffer {
  const at = file.indexOf('moov', 0, 'latin1') - 4
  const empty = () => numbers(0, 0)
  const movie = rewrite(file.subarray(at + 8, at + file.readUInt32BE(at)), {
    stts: empty,
    stsc: empty,
    stsz: () => numbers(0, 0, 0),
    stco: empty,
  })
  return box('moov', Buffer.concat([movie, extensionOf(size, layout), paddingOf(layout)]))
}

/** Returns the box `mvex`, which declares that the file has fragments. */
function extensionOf(size: number, { defaults }: Layout): Buffer {
  const fields = defaults === 'track' ? [packetSamples, size] : [0, 0]
  return box('mvex', box('trex', numbers(0, track, 1, ...fields, 0)))
}

function paddingOf({ padding = 0 }: Layout): Buffer {
  return box('free', Buffer.alloc(padding))
}

/**
 * Returns a fragment and its data. `time` is the start of the fragment in samples. `offset` is the position of the
 * fragment in the file, in bytes.
 */
function fragmentOf(packets: Buffer[], time: number, offset: number, layout: Layout): Buffer {
  const { runs = 1, base = 'fragment', isTimed = true, defaults = 'packet' } = layout
  const data = Buffer.concat(packets)
  const sizeOf = (from: number) => partOf(packets, time, from, { runs, base, isTimed, defaults }).length
  // `sizeOf(0)` writes the header of the fragment with the offset 0. Every offset has the same number of bytes, so the
  // length is also right for the real offset, which is not known yet.
  const from = 8 + 16 + sizeOf(0) + 8
  const part = partOf(packets, time, base === 'file' ? offset + from : from, {
    runs,
    base,
    isTimed,
    defaults,
  })
  return Buffer.concat([box('moof', Buffer.concat([box('mfhd', numbers(0, 1)), part])), box('mdat', data)])
}

function partOf(
  packets: Buffer[],
  time: number,
  from: number,
  layout: Required<Pick<Layout, 'runs' | 'base' | 'isTimed' | 'defaults'>>,
): Buffer {
  const { runs, base, isTimed, defaults } = layout
  const isInPart = defaults === 'part'
  const flags = (base === 'file' ? 1 : 0) + (base === 'fragment' ? 0x20000 : 0) + (isInPart ? 0x18 : 0)
  const fields = isInPart ? [packetSamples, packets[0]!.length] : []
  const header = numbers(flags, track, ...(base === 'file' ? [0, from] : []), ...fields)
  const perRun = Math.ceil(packets.length / runs)
  let offset = base === 'file' ? 0 : from
  const tables = Array.from({ length: runs }, (_, run) => {
    const listed = packets.slice(run * perRun, (run + 1) * perRun)
    const entries = defaults === 'packet' ? listed.flatMap(({ length }) => [packetSamples, length]) : []
    const table = numbers(defaults === 'packet' ? 0x301 : 1, listed.length, offset, ...entries)
    offset += Buffer.concat(listed).length
    return box('trun', table)
  })
  const times = isTimed ? [box('tfdt', numbers(0, time))] : []
  return box('traf', Buffer.concat([box('tfhd', header), ...times, ...tables]))
}

/** Returns the index of the file (box `sidx`): the list of all fragments. */
function indexOf(fragments: Buffer[], perFragment: number): Buffer {
  const entries = fragments.flatMap(({ length }) => [length, perFragment * packetSamples, 0])
  return box('sidx', numbers(0, track, 44100, 0, 0, fragments.length, ...entries))
}

// Rewrites the boxes (parts) of MP4 files, for example to give a file a long index.

type Change = (content: Buffer) => Buffer

const parents = ['moov', 'trak', 'edts', 'mdia', 'minf', 'stbl']

export function box(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + content.length)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, content])
}

const padding = box('free', Buffer.alloc(1024 ** 2))

/**
 * Applies `changes` to the boxes of an MP4 file, also inside the boxes in `parents`. The type of a box selects its
 * change. All other boxes stay the same.
 */
export function rewrite(boxes: Buffer, changes: Record<string, Change>): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at + 8 <= boxes.length; at += boxes.readUInt32BE(at)) {
    const type = boxes.toString('latin1', at + 4, at + 8)
    const content = boxes.subarray(at + 8, at + boxes.readUInt32BE(at))
    const inner = parents.includes(type) ? rewrite(content, changes) : content
    parts.push(box(type, changes[type]?.(inner) ?? inner))
  }
  return Buffer.concat(parts)
}

/** Moves the index of an MP4 file to the end of the file, and makes the index a megabyte longer. */
export function withLongIndex(file: Buffer): Buffer {
  return moveIndex(file, index => Buffer.concat([index, padding]))
}

/**
 * Moves the index of an MP4 file to the end of the file, and keeps the length of the index. `withLongIndex` adds a
 * padding of a megabyte inside the index. This function adds the same padding after the index, so both functions return
 * files of the same length.
 */
export function withShortIndex(file: Buffer): Buffer {
  return Buffer.concat([moveIndex(file, index => index), padding])
}

/**
 * Repeats the sound of aac.m4a, but does not copy the sound data: the index refers to the only chunk of sound data
 * `repetitions` times. Returns the file and its duration.
 */
export function repeated(file: Buffer, repetitions: number): { bytes: Buffer; durationMs: number } {
  const packets = 88
  const samples = 1024
  const total = repetitions * packets * samples
  // The first packet has no sound, only the encoder's delay. The duration is rounded down to 10 ms (441 samples at
  // 44,100 Hz).
  const durationMs = Math.floor((total - samples) / 441) * 10
  const bytes = moveIndex(file, index =>
    rewrite(index, {
      mdhd: content => Buffer.concat([content.subarray(0, 16), numbers(total), content.subarray(20)]),
      elst: content => Buffer.concat([content.subarray(0, 8), numbers(durationMs), content.subarray(12)]),
      stts: () => numbers(0, 1, repetitions * packets, samples),
      stsz: content => {
        const sizes = content.subarray(12, 12 + 4 * packets)
        return Buffer.concat([
          numbers(0, 0, repetitions * packets),
          ...Array<Buffer>(repetitions).fill(sizes),
        ])
      },
      stco: content => numbers(0, repetitions, ...Array<number>(repetitions).fill(content.readUInt32BE(8))),
    }),
  )
  return { bytes, durationMs }
}

/**
 * The values for the tables of an MP4 sound track. A packet is a piece of encoded sound, and a chunk is a group of
 * adjacent packets. All packets have the same size and duration, and all chunks the same position, so the same sound
 * repeats.
 */
export type Tables = {
  packets: number
  bytes: number
  /** The duration of a packet in samples. */
  length: number
  perChunk: number
  /**
   * The position of the one stored chunk, in bytes from the start of the file. All chunks in the table have this
   * position.
   */
  offset: number
  /** The duration of the track in milliseconds. */
  durationMs: number
}

/** Replaces the tables of an MP4 file's sound track, which give the positions and durations of the packets. */
export function withTables(file: Buffer, tables: Tables): Buffer {
  const { packets, bytes, length, perChunk, offset, durationMs } = tables
  const chunks = packets / perChunk
  const put = (content: Buffer, at: number, value: number) =>
    Buffer.concat([content.subarray(0, at), numbers(value), content.subarray(at + 4)])
  const change = (track: Buffer) =>
    rewrite(track, {
      mdhd: content => put(content, 16, packets * length),
      elst: content => put(content, 8, durationMs),
      stts: () => numbers(0, 1, packets, length),
      stsc: () => numbers(0, 1, 1, perChunk, 1),
      stsz: () => numbers(0, bytes, packets),
      stco: () => Buffer.concat([numbers(0, chunks), Buffer.alloc(4 * chunks, numbers(offset))]),
    })
  return moveIndex(file, index =>
    rewrite(index, { trak: track => (track.includes('soun') ? change(track) : track) }),
  )
}

export function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, at) => void bytes.writeUInt32BE(value, 4 * at))
  return bytes
}

/** Moves the index of an MP4 file to the end and applies `change` to the index. The sound data keeps its place. */
export function moveIndex(file: Buffer, change: Change): Buffer {
  const at = file.indexOf('moov', 0, 'latin1') - 4
  const index = file.subarray(at + 8, at + file.readUInt32BE(at))
  // The index is the box `moov`. The original index stays at its place, but gets the type `free`, so players skip it.
  const before = Buffer.from(file)
  before.write('free', at + 4, 'latin1')
  return Buffer.concat([before, box('moov', change(Buffer.from(index)))])
}

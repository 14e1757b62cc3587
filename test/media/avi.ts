// Writes AVI files with any number of packets.

function little(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, at) => void bytes.writeUInt32LE(value, 4 * at))
  return bytes
}

function chunk(type: string, content: Buffer): Buffer {
  const padding = Buffer.alloc(content.length % 2)
  return Buffer.concat([Buffer.from(type, 'latin1'), little(content.length), content, padding])
}

/** Returns the chunks of an AVI file's list `movi`, with their headers. */
function packetsOf(file: Buffer): Buffer[] {
  const list = file.indexOf('movi', 0, 'latin1')
  const end = list + file.readUInt32LE(list - 4)
  const packets: Buffer[] = []
  for (let at = list + 4; at < end; at += packets.at(-1)!.length) {
    const size = file.readUInt32LE(at + 4)
    packets.push(file.subarray(at, at + 8 + size + (size % 2)))
  }
  return packets
}

/**
 * Repeats the sound of an AVI file, with `pictures` picture packets of two bytes before each packet of sound. If
 * `isSorted` is false, the index of the file lists the last packet twice. The index is then not sorted, because the
 * position of its last entry is not higher than that of the entry before.
 */
export function repeatedAvi(file: Buffer, times: number, pictures: number, isSorted = true): Buffer {
  const sounds = packetsOf(file).filter(packet => packet.toString('latin1', 2, 4) === 'wb')
  const picture = chunk('00dc', Buffer.alloc(2))
  const round = sounds.flatMap(sound => [...Array<Buffer>(pictures).fill(picture), sound])
  const packets = Buffer.concat(round)
  const entries = round.map(
    packet => [packet.readUInt32BE(0), packet.readUInt32LE(4), packet.length] as const,
  )
  const index = Buffer.alloc(16 * (times * entries.length + (isSorted ? 0 : 1)))
  let offset = 4
  let at = 0
  for (let time = 0; time < times; time++)
    for (const [type, size, length] of entries) {
      index.writeUInt32BE(type, at)
      index.writeUInt32LE(0x10, at + 4)
      index.writeUInt32LE(offset, at + 8)
      index.writeUInt32LE(size, at + 12)
      offset += length
      at += 16
    }
  if (!isSorted) index.copyWithin(at, at - 16, at)
  const head = file.subarray(12, file.indexOf('movi', 0, 'latin1') - 8)
  const sound = Buffer.concat([Buffer.from('movi'), ...Array<Buffer>(times).fill(packets)])
  return chunk('RIFF', Buffer.concat([Buffer.from('AVI '), head, chunk('LIST', sound), chunk('idx1', index)]))
}

/** Adds `count` empty indexes (chunks `indx`) to the headers of an AVI file's first stream. */
export function withStreamIndexes(file: Buffer, count: number): Buffer {
  const indexes = Buffer.concat(Array<Buffer>(count).fill(chunk('indx', Buffer.alloc(0))))
  const stream = file.indexOf('strl', 0, 'latin1') - 4
  // The new chunks are at the end of the list `strl`. This list is in the list `hdrl`, and `hdrl` is in the list of the
  // whole file. Each list begins with its size. `sizes` has the positions of these three sizes.
  const sizes = [4, file.indexOf('hdrl', 0, 'latin1') - 4, stream]
  const end = stream + 4 + file.readUInt32LE(stream)
  const longer = Buffer.concat([file.subarray(0, end), indexes, file.subarray(end)])
  for (const at of sizes) longer.writeUInt32LE(file.readUInt32LE(at) + indexes.length, at)
  return longer
}

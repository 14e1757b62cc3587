// Tests long files. By default, FFmpeg reads the list of all packets of an MP4, CAF or AVI file into memory. The media
// program avoids this, with the same results as FFmpeg. It must not keep large pictures and attachments in memory
// either.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { closeSync, constants, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinFloats } from '../../src/base/join-floats.ts'
import { JobFailure } from '../../src/errors.ts'
import { decode } from '../../src/media/decode.ts'
import { openMedia } from '../../src/media/inspect.ts'
import { argumentsOf } from '../../src/media/order.ts'
import { findProgram } from '../../src/media/program.ts'
import { defaults } from '../support/defaults.ts'
import { temporaryFolder } from '../support/folder.ts'
import { seeded } from '../support/random.ts'
import { repeatedAvi, withStreamIndexes } from './avi.ts'
import { repeated, withLongIndex, withShortIndex, withTables } from './boxes.ts'
import { repeatedCaf } from './caf.ts'
import { bounds, decodeAll, fixture, forever, inspect, media, patienceMs } from './files.ts'
import { endOfPacket, withLargePictures, withSums } from './flv.ts'
import { fragmented, type Layout, packetsOf, withFragments } from './fragments.ts'
import { withAttachment, withEncodings } from './matroska.ts'

setDefaultTimeout(patienceMs)

const MB = 1e6
const { durationMsMin, durationMsMax } = defaults
const small = openMedia({ durationMsMin, durationMsMax, bounds: { ...bounds, memoryBytes: 20 * MB } })
/** The number of AAC packets in about three hours of sound at 44,100 Hz. */
const aacPackets = 465_000
const names = [
  'aac.m4a',
  'alac.m4a',
  'cover.m4a',
  'edit-list.m4a',
  'late.m4a',
  'h264-aac.mp4',
  'h264-ac3.mp4',
  'late-sound.mp4',
  'mpeg4-pcm.mov',
  'amr.3gp',
  'mpeg4-aac.m4v',
  'h264-aac.f4v',
]

function write(bytes: Uint8Array): string {
  const path = join(temporaryFolder(), 'file')
  writeFileSync(path, bytes)
  return path
}

test.each(names)('%s gives the same samples with a long index', async name => {
  const path = write(withLongIndex(readFileSync(fixture(name))))
  expect(await inspect(path)).toEqual(await inspect(fixture(name)))
  expect(await decodeAll(path)).toEqual(await decodeAll(fixture(name)))
})

test('a recording of ten hours takes as little memory as a short one', async () => {
  const { bytes, durationMs } = repeated(readFileSync(fixture('aac.m4a')), 17_600)
  expect(durationMs).toBeGreaterThan(35_900_000)
  expect(await small.inspect(fixture('aac.m4a'), { signal: forever })).toMatchObject({ durationMs: 2000 })
  expect(await small.inspect(write(bytes), { signal: forever })).toMatchObject({ durationMs })
})

const layouts: [string, Layout][] = [
  ['offsets from the fragment', {}],
  ['offsets from the start of the file', { base: 'file' }],
  ['no base of the offsets', { base: 'none' }],
  ['no times', { isTimed: false }],
  ['three tables in a fragment', { runs: 3 }],
  ['defaults in the part', { defaults: 'part' }],
  ['defaults of the track', { defaults: 'track' }],
  ['an index of the fragments', { hasIndex: true }],
  ['a gap of a second', { gap: 44_100 }],
  ['an overlap of half a second', { gap: -22_050 }],
]

test.each(layouts)('a fragmented file with %s gives the same samples when it is long', async (_, layout) => {
  const file = readFileSync(fixture('aac.m4a'))
  const packets = packetsOf(file)
  // With `defaults`, the file contains one size for all packets. The packets of aac.m4a have different sizes, so all
  // packets become copies of one packet.
  const heard = layout.defaults ? packets.fill(packets[20]!) : packets
  const short = write(fragmented(file, heard, 10, layout))
  const long = write(fragmented(file, heard, 10, { ...layout, padding: 1024 ** 2 }))
  expect(await inspect(long)).toEqual(await inspect(short))
  expect(await decodeAll(long)).toEqual(await decodeAll(short))
  if (layout.defaults || layout.gap) return
  // A fragmented file does not say how many of its last samples are padding, so these samples are not compared.
  const whole = await decodeAll(fixture('aac.m4a'))
  expect((await decodeAll(long)).subarray(0, 31_900)).toEqual(whole.subarray(0, 31_900))
})

// In the next tests, the media program may use only 20 MB of memory (`small`, at the start of this file). It uses 13 to
// 16 MB even for a short file. Each file of three hours has at least 225,000 packets. By default, FFmpeg would keep an
// index of all packets in memory. The index of each of these files takes at least 9 MB, so 20 MB would not be enough.

test('a fragmented recording of three hours takes as little memory as a short one', async () => {
  const file = readFileSync(fixture('aac.m4a'))
  const packets = packetsOf(file)
  const bytes = fragmented(file, Array<Buffer>(aacPackets).fill(smallestOf(packets)), 200, {
    defaults: 'track',
  })
  const durationMs = Math.floor((((aacPackets - 1) * 1024) / 44_100) * 1000)
  expect(durationMs).toBeWithin(10_700_000, 10_800_000)
  expect(await small.inspect(write(bytes), { signal: forever })).toMatchObject({ durationMs })
})

test('AC-3 in MP4, three hours, takes as little memory as a short file', async () => {
  // All entries of the chunk table have the same `offset`, so the track repeats one chunk. The chunk has twelve packets
  // of 48 ms, and 225,000 packets last three hours. The first 8 ms are not played.
  const tables = {
    packets: 225_000,
    bytes: 192,
    length: 1536,
    perChunk: 12,
    offset: 6649,
    durationMs: 10_799_992,
  }
  const path = write(withTables(readFileSync(fixture('h264-ac3.mp4')), tables))
  expect(await small.inspect(path, { signal: forever })).toMatchObject({
    codec: 'ac3',
    durationMs: 10_799_992,
  })
})

test('PCM in MOV, three hours in chunks of 100 samples, takes as little memory as a short file', async () => {
  const seconds = 10_800
  const packets = 8000 * seconds
  const tables = { packets, bytes: 2, length: 1, perChunk: 100, offset: 61, durationMs: 1000 * seconds }
  const path = write(withTables(readFileSync(fixture('mpeg4-pcm.mov')), tables))
  expect(await small.inspect(path, { signal: forever })).toMatchObject({ durationMs: 1000 * seconds })
})

test('packets in tables and in fragments give the same samples in a long file', async () => {
  const file = readFileSync(fixture('aac.m4a'))
  const packets = packetsOf(file)
  const short = write(withFragments(file, packets, 10))
  const long = write(withFragments(file, packets, 10, { padding: 1024 ** 2 }))
  expect(await inspect(long)).toEqual(await inspect(short))
  const samples = await decodeAll(long)
  expect(samples).toEqual(await decodeAll(short))
  expect(samples.length).toBeWithin(64_000, 65_500)
})

test('fragments of three hours after a table take as little memory as a short file', async () => {
  const file = readFileSync(fixture('aac.m4a'))
  const packets = Array<Buffer>(aacPackets).fill(smallestOf(packetsOf(file)))
  const bytes = withFragments(file, packets, 200, { defaults: 'track' })
  const { durationMs } = await small.inspect(write(bytes), { signal: forever })
  expect(durationMs).toBeWithin(10_700_000, 10_800_000)
})

test('a CAF file gives the same samples when it is long', async () => {
  const file = readFileSync(fixture('aac.m4a'))
  const heard = packetsOf(file)
  // The long file and the short file repeat the same 441 packets of 1024 samples at 44,100 Hz. These are exactly
  // 163,840 samples at 16,000 Hz, so each repetition begins at a whole sample. All repetitions except the first and the
  // last one therefore have the same decoded samples, apart from the noise of the AAC decoder.
  const packets = Array.from({ length: 441 }, (_, i) => heard[i % heard.length]!)
  const part = 163_840
  const noise = 0.02
  const layout = { priming: 2112, remainder: 100, packets }
  // FFmpeg reads the packet table of a CAF file with up to 65,536 packets. The media program itself reads a longer
  // table. The long file repeats the 441 packets 149 times, so its table has 65,709 packets.
  const short = await decodeAll(write(repeatedCaf(file, 3, layout)))
  const long = await decodeAll(write(repeatedCaf(file, 149, layout)))
  expect(Buffer.compare(bytesOf(long.subarray(0, 2 * part)), bytesOf(short.subarray(0, 2 * part)))).toBe(0)
  expect(long.length).toBe(short.length + 146 * part)
  expect(short.findIndex(sample => Math.abs(sample) > 10 * noise)).toBeGreaterThan(0)
  // The short file has three parts, and the long file has 149 parts. The first two parts were compared above. The last
  // part of the long file is compared with the last part of the short file, because the sound ends in both of them. All
  // other parts are compared with the second part of the short file.
  const last = 148 * part
  let most = largestDifference(long.subarray(last), short.subarray(2 * part))
  for (let at = 2 * part; at < last; at += part)
    most = Math.max(most, largestDifference(long.subarray(at, at + part), short.subarray(part)))
  expect(most).toBeLessThan(noise)
})

test.each([false, true])(
  'a CAF file of three hours takes little memory (durations in its table: %p)',
  async listsDurations => {
    const file = readFileSync(fixture('aac.m4a'))
    const packets = Array<Buffer>(88).fill(smallestOf(packetsOf(file)))
    const bytes = repeatedCaf(file, 5280, { listsDurations, packets })
    const { durationMs } = await small.inspect(write(bytes), { signal: forever })
    expect(durationMs).toBe(Math.floor((5280 * 88 * 1024) / 44.1))
  },
)

test('an attachment of 30 MB in a Matroska file is not kept in memory', async () => {
  const path = write(withAttachment(readFileSync(fixture('streamed.webm')), 30 * MB))
  expect(await small.inspect(path, { signal: forever })).toEqual(await inspect(fixture('streamed.webm')))
  expect(await decodeAll(path)).toEqual(await decodeAll(fixture('streamed.webm')))
})

test.each([
  ['behind 60 tracks', { subtitles: 60 }],
  ['behind the packets', { behind: 'in the first list' }],
] as const)('an attachment of 15 MB in a Matroska file is not kept in memory: %s', async (_, arrangement) => {
  const sound = joinFloats(Array(2).fill(await decodeAll(fixture('pcm.wav'))))
  const file = (attachmentBytes: number) =>
    write(withEncodings(sound, [], undefined, { ...arrangement, attachmentBytes }))
  const [without, large] = [file(0), file(15 * MB)]
  expect(await peakAfterOpening(large)).toBeLessThan((await peakAfterOpening(without)) + 5 * MB)
  expect(await decodeAll(large)).toEqual(await decodeAll(without))
})

test('a damaged fragment gives the same result in a long file', async () => {
  const random = seeded(2)
  const file = readFileSync(fixture('aac.m4a'))
  const packets = packetsOf(file)
  for (let damaged = 0; damaged < 12; damaged++) {
    const layout: Layout = { base: random.pick(['fragment', 'file', 'none']), hasIndex: random.next() < 0.3 }
    const type = random.pick(['moof', 'traf', 'tfhd', 'tfdt', 'trun', 'mdat', 'trex'])
    const byte = random.below(30) - 4
    const bit = 1 << random.below(8)
    const damage = (padding: number) => {
      // With a megabyte of padding, the file counts as long, and steno's code in the media program reads the fragments
      // (parts with packets). Without padding, the library FFmpeg reads them. Both files have the same box for the
      // padding, but in the second file this box is empty. So the files differ only in the size of the box.
      const bytes = fragmented(file, packets, 10, { ...layout, padding })
      const at = bytes.lastIndexOf(type, -1, 'latin1') + byte
      bytes[at] = bytes[at]! ^ bit
      return write(bytes)
    }
    expect(await outcome(damage(1024 ** 2))).toEqual(await outcome(damage(0)))
  }
})

test('the sound of each packet of a long index is heard', async () => {
  const { bytes, durationMs } = repeated(readFileSync(fixture('aac.m4a')), 30)
  const short = await decodeAll(write(bytes))
  expect(await inspect(write(withLongIndex(bytes)))).toMatchObject({ durationMs })
  expect(await decodeAll(write(withLongIndex(bytes)))).toEqual(short)
  expect(short.length).toBe(16 * durationMs)
})

test('damaged tables give the same result with a long index', async () => {
  const random = seeded(1)
  for (let damaged = 0; damaged < 12; damaged++) {
    const file = readFileSync(fixture(random.pick(['aac.m4a', 'h264-aac.mp4', 'amr.3gp'])))
    const table = random.pick(['stts', 'stsc', 'stsz', 'stco', 'elst', 'mdhd', 'stsd', 'tkhd'])
    const at = file.indexOf(table, 0, 'latin1')
    const byte = at + random.below(40)
    if (at >= 0) file[byte] = file[byte]! ^ (1 << random.below(8))
    expect(await outcome(write(withLongIndex(file)))).toEqual(await outcome(write(withShortIndex(file))))
  }
})

function smallestOf(packets: Buffer[]): Buffer {
  return packets.reduce((least, packet) => (packet.length < least.length ? packet : least))
}

/** Returns the largest difference between a sample of `sound` and the sample of `other` at the same place. */
function largestDifference(sound: Float32Array, other: Float32Array): number {
  let most = 0
  for (let at = 0; at < sound.length; at++) most = Math.max(most, Math.abs(sound[at]! - other[at]!))
  return most
}

function bytesOf(samples: Float32Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
}

/**
 * Inspects and decodes a file. Returns the inspected duration and the number of decoded samples. If a step fails, its
 * error code replaces its value.
 */
async function outcome(path: string): Promise<unknown[]> {
  const codeOf = (error: unknown) => (error instanceof JobFailure ? error.code : Promise.reject(error))
  const inspected = await media
    .inspect(path, { signal: forever })
    .then(({ durationMs }) => durationMs, codeOf)
  const count = async () => {
    let samples = 0
    for await (const part of decode(path, { signal: forever, durationMsMax: 60_000, bounds }))
      samples += part.length
    return samples
  }
  return [inspected, await count().catch(codeOf)]
}

test('the index of a long AVI file is not read into memory', async () => {
  const file = readFileSync(fixture('mpeg4-mp3.avi'))
  const sorted = write(repeatedAvi(file, 100, 50))
  const unsorted = write(repeatedAvi(file, 100, 50, false))
  expect(await peakAfterOpening(sorted)).toBeLessThan(6 * MB)
  // The index of an AVI file lists its packets. In a sorted index, they have the order of the packets in the file.
  // FFmpeg can then read the packets without the index, so the media program hides the index from FFmpeg. FFmpeg needs
  // an unsorted index, and reads it into memory.
  expect(await peakAfterOpening(unsorted)).toBeGreaterThan(10 * MB)
  expect(await inspect(sorted)).toEqual(await inspect(unsorted))
})

test('an AVI file with a hidden index gives the same samples', async () => {
  const file = readFileSync(fixture('mpeg4-mp3.avi'))
  const sorted = await decodeAll(write(repeatedAvi(file, 30, 40)))
  expect(sorted).toEqual(await decodeAll(write(repeatedAvi(file, 30, 40, false))))
  expect(sorted.length).toBeGreaterThan(30 * 32_000)
})

test('an AVI file with more indexes than the media program can hide gives the same samples', async () => {
  const file = repeatedAvi(readFileSync(fixture('mpeg4-mp3.avi')), 30, 40)
  const path = write(withStreamIndexes(file, 200))
  expect(await inspect(path)).toEqual(await inspect(write(file)))
  expect(await decodeAll(path)).toEqual(await decodeAll(write(file)))
})

test('the pictures of an FLV file, 30 MB, are not kept in memory', async () => {
  const path = write(withLargePictures(readFileSync(fixture('h264-aac.flv')), 0.1 * MB, 30))
  expect(await small.inspect(path, { signal: forever })).toEqual(await inspect(fixture('h264-aac.flv')))
  expect(await decodeAll(path)).toEqual(await decodeAll(fixture('h264-aac.flv')))
})

test('an FLV file with sums in place of sizes gives the same samples', async () => {
  const path = write(withSums(readFileSync(fixture('h264-aac.flv'))))
  expect(await inspect(path)).toEqual(await inspect(fixture('h264-aac.flv')))
  expect(await decodeAll(path)).toEqual(await decodeAll(fixture('h264-aac.flv')))
})

test('the last packet before a damaged end of an FLV file is heard', async () => {
  const file = withSums(readFileSync(fixture('h264-aac.flv')))
  const end = endOfPacket(file, 40)
  const whole = await decodeAll(write(file.subarray(0, end)))
  file[end - 1] = file[end - 1]! ^ 1
  expect(await decodeAll(write(file))).toEqual(whole)
})

/**
 * Returns the peak memory of the media program up to its first samples, in bytes. The program writes into a named pipe,
 * of which only 32 KB are read. Its memory is measured after this read.
 */
async function peakAfterOpening(path: string): Promise<number> {
  const pipe = join(temporaryFolder(), 'samples')
  Bun.spawnSync(['mkfifo', pipe])
  // A named pipe can be opened for writing only while it is open for reading.
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  const order = { operation: 'decode', parent: process.pid, durationMsMax, channel: 0 } as const
  const args = argumentsOf({ ...order, openCpuMs: 20_000, cpuMs: 20_000, memoryBytes: 200 * MB, ...bounds })
  const [stdin, stdout] = [Bun.file(path), Bun.file(pipe)]
  const child = Bun.spawn([findProgram(null), ...args], { stdin, stdout, stderr: 'ignore' })
  await Bun.spawn(['head', '-c', '32768', pipe], { stdout: 'ignore' }).exited
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
  child.kill('SIGKILL')
  await child.exited
  closeSync(reader)
  return Number(kilobytes) * 1024
}

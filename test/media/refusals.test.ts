// Tests the error codes and messages for media files that are refused. Also tests files that are not refused although
// they have a fault: a damaged part, or samples that are too large.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openMedia } from '../../src/media/inspect.ts'
import { defaults } from '../support/defaults.ts'
import { temporaryFolder } from '../support/folder.ts'
import { wavHeader } from '../support/sound.ts'
import { box } from './boxes.ts'
import { bounds, decodeAll, failureOf, fixture, forever, inspect, patienceMs } from './files.ts'
import { expectTune, level, sampleRate, tune } from './tones.ts'

setDefaultTimeout(patienceMs)

const refused = [
  { name: 'picture.png', message: 'The file is not audio or video that can be read.' },
  { name: 'make.sh', message: 'The file is not audio or video that can be read.' },
  { name: 'silent-film.mp4', message: 'The file has no audio track.' },
  { name: 'encrypted.mp4', message: 'The audio track is encrypted (DRM), so it cannot be read.' },
  { name: 'short.wav', message: 'The audio is 0.500 seconds long; at least 1 second is needed.' },
]

const unreadable = 'The file is not audio or video that can be read.'
const incomplete =
  'The MP4 file is incomplete: its index (moov) is missing. This happens if the recording or a copy is interrupted. ' +
  'Copy the file again, or repair it.'

function written(bytes: Buffer): string {
  const path = join(temporaryFolder(), 'file.mp4')
  writeFileSync(path, bytes)
  return path
}

describe.each(refused)('$name', ({ name, message }) => {
  test('is refused with its own message', async () => {
    expect(await failureOf(inspect(fixture(name)))).toEqual({ code: 'INVALID_MEDIA_FORMAT', message })
  })
})

describe('an MP4 file that is cut off', () => {
  const file = readFileSync(fixture('aac.m4a'))
  const indexAt = file.indexOf('moov') - 4
  const soundAt = file.indexOf('mdat') - 4
  const withoutSize = Buffer.from(file.subarray(0, indexAt))
  withoutSize.writeUInt32BE(0, soundAt)

  test.each([
    ['before the index', file.subarray(0, indexAt), incomplete],
    ['in the index', file.subarray(0, indexAt + 300), incomplete],
    ['in the sound', file.subarray(0, soundAt + 1000), incomplete],
    ['before the size of the sound is written', withoutSize, incomplete],
    ['before the sound', file.subarray(0, soundAt), unreadable],
  ])('%s is refused with its own message', async (_, bytes, message) => {
    expect(await failureOf(inspect(written(bytes)))).toEqual({ code: 'INVALID_MEDIA_FORMAT', message })
  })
})

test('a segment of a stream is an MP4 file without its index, and a photo is not', async () => {
  const data = box('mdat', Buffer.alloc(1000))
  const segment = Buffer.concat([box('styp', Buffer.from('msdh')), box('moof', Buffer.alloc(100)), data])
  const photo = Buffer.concat([box('ftyp', Buffer.from('heic')), box('meta', Buffer.alloc(100)), data])
  expect(await failureOf(inspect(written(segment)))).toMatchObject({ message: incomplete })
  expect(await failureOf(inspect(written(photo)))).toMatchObject({ message: unreadable })
})

test('an empty file is not media', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'empty.mp3')
  writeFileSync(path, '')
  expect(await failureOf(inspect(path))).toMatchObject({ code: 'INVALID_MEDIA_FORMAT' })
})

test('audio above the limit is too long', async () => {
  const strict = openMedia({ durationMsMin: defaults.durationMsMin, durationMsMax: 1500 })
  expect(await failureOf(strict.inspect(fixture('pcm.wav'), { signal: forever }))).toEqual({
    code: 'DURATION_TOO_LONG',
    message: 'The audio is longer than the limit of 1.5 seconds.',
  })
  const exact = openMedia({ durationMsMin: 2000, durationMsMax: 2000 })
  const accepted = await exact.inspect(fixture('pcm.wav'), { signal: forever })
  expect(accepted.durationMs).toBe(2000)
})

test('more channels than FFmpeg can mix are refused before a job is charged', async () => {
  const folder = temporaryFolder()
  const write = (channels: number) => {
    const path = join(folder, `${channels}.wav`)
    const sound = { sampleRate: 8000, channels, bytesPerSample: 2 }
    const bytes = Buffer.alloc(8000 * channels * 2)
    writeFileSync(path, Buffer.concat([wavHeader(bytes.length, sound), bytes]))
    return path
  }
  expect(await inspect(write(64))).toMatchObject({ channels: 64, durationMs: 1000 })
  expect(await decodeAll(write(64))).toHaveLength(sampleRate)
  expect(await failureOf(inspect(write(65)))).toEqual({
    code: 'INVALID_MEDIA_FORMAT',
    message: 'The audio track has more than 64 channels, which is not supported.',
  })
})

test('a disk that cannot be read is not the end of the file', async () => {
  // The file /proc/self/mem has the memory of a process, which has none at address 0. The first read of the file
  // therefore fails with the error of a broken disk (EIO).
  expect(await failureOf(inspect('/proc/self/mem'))).toMatchObject({ code: 'PROCESSING_ERROR' })
})

test('a missing file is an internal error, not an error of the caller', async () => {
  expect(await failureOf(inspect(fixture('no-such-file.mp3')))).toMatchObject({ code: 'INTERNAL_ERROR' })
})

test('the content decides, not the extension', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'really-opus.mp3')
  copyFileSync(fixture('opus.opus'), path)
  expect(await inspect(path)).toMatchObject({ container: 'ogg', codec: 'opus', durationMs: 2000 })
})

test('a truncated file has the duration of its remaining part', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'cut.wav')
  writeFileSync(path, readFileSync(fixture('pcm.wav')).subarray(0, 44 + 8000 * 2 * 1.5))
  expect(await inspect(path)).toMatchObject({ durationMs: 1500 })
})

test.each(['six-channels.mkv', 'twelve-channels.wav'])(
  '%s at full level does not clip when it is mixed to one channel',
  async name => {
    const samples = await decodeAll(fixture(name))
    const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
    expect(peak).toBeLessThanOrEqual(1)
    // Every channel has the same sine wave with the peak 1, so the mix is this wave. Its level (root mean square) is
    // the square root of 1/2. A clipped sum of the channels has a higher level.
    expect(level(samples)).toBeCloseTo(Math.SQRT1_2, 1)
  },
)

test('samples that are NaN, infinite or too large are decoded to values from -1 to 1', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'float.wav')
  const seconds = 2
  const samples = new Float32Array(seconds * sampleRate).map(
    (_, i) => [Number.NaN, Infinity, -1e30, 0][i % 4]!,
  )
  const header = Buffer.from(readFileSync(fixture('pcm.wav')).subarray(0, 44))
  // In a WAV file, the format number 3 means 32-bit floats.
  header.writeUInt16LE(3, 20)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(4 * sampleRate, 28)
  header.writeUInt16LE(4, 32)
  header.writeUInt16LE(32, 34)
  header.writeUInt32LE(samples.byteLength, 40)
  writeFileSync(path, Buffer.concat([header, new Uint8Array(samples.buffer)]))
  const decoded = await decodeAll(path)
  expect(decoded).toHaveLength(seconds * sampleRate)
  expect(decoded.every(sample => sample >= -1 && sample <= 1)).toBe(true)
})

test('damage in the middle becomes silence, and the later sound keeps its time', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'damaged.ts')
  const bytes = readFileSync(fixture('h264-mp2.ts'))
  // Overwrites packets 45 to 59 with zeros. They contain the end of the first tone and most of the second tone. A
  // packet has 188 bytes.
  bytes.fill(0, 188 * 45, 188 * 60)
  writeFileSync(path, bytes)
  const samples = await decodeAll(path)
  expectTune(samples, [tune[0]!, { from: 0.4, to: 0.6, hertz: 400 }, ...tune.slice(3)])
})

const garbage = [
  { name: 'AMR', head: '#!AMR\n', byte: 0x4c },
  { name: 'AMR-WB', head: '#!AMR-WB\n', byte: 0x54 },
]

test.each(garbage)('packets that cannot be decoded are refused early: $name', async ({ head, byte }) => {
  const path = join(temporaryFolder(), 'garbage.m4a')
  writeFileSync(path, Buffer.concat([Buffer.from(head), Buffer.alloc(32 * 1024 ** 2, byte)]))
  // Decoding the whole file would take minutes. The media program must stop after a limited number of damaged packets.
  // The limit of 10 s of CPU time would give another error.
  const strict = openMedia({ ...defaults, bounds: { ...bounds, cpuMs: 10_000 } })
  expect(await failureOf(strict.inspect(path, { signal: forever }))).toEqual({
    code: 'INVALID_MEDIA_FORMAT',
    message: 'The audio track is damaged: nothing of it can be decoded.',
  })
})

test('a file that takes too long to open is refused', async () => {
  const path = join(temporaryFolder(), 'tags.mp3')
  // FFmpeg compares the name of each tag with all previous names, so 30,000 tags take about a minute.
  writeFileSync(path, Buffer.concat([id3(30_000), readFileSync(fixture('cbr.mp3'))]))
  const strict = openMedia({ ...defaults, bounds: { ...bounds, openCpuMs: 1000 } })
  expect(await failureOf(strict.inspect(path, { signal: forever }))).toEqual({
    code: 'INVALID_MEDIA_FORMAT',
    message: 'Reading the file takes more time than a media file may.',
  })
})

/** Returns an ID3v2.3 tag with `count` text frames of different names. */
function id3(count: number): Buffer {
  const frames = Array.from({ length: count }, (_, i) => {
    const text = Buffer.from(`\x03name${i}\0v`)
    const head = Buffer.from('TXXX\0\0\0\0\0\0', 'latin1')
    head.writeUInt32BE(text.length, 4)
    return Buffer.concat([head, text])
  })
  const body = Buffer.concat(frames)
  const size = [21, 14, 7, 0].map(shift => (body.length >> shift) & 0x7f)
  return Buffer.concat([Buffer.from('ID3\x03\0\0', 'latin1'), Buffer.from(size), body])
}

// Tests the measured duration of media files: the length of the playable sound, not the value in a header. For a file
// of more than half a minute, the media program decodes only the start and the end. Between them, it adds up the
// lengths that the file gives for its packets. If such a length does not fit the times of the packets, the program
// decodes this packet and all later ones. Some tests repeat a short file to make a long one.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openMedia } from '../../src/media/inspect.ts'
import { temporaryFolder } from '../support/folder.ts'
import { bounds, decodeAll, failureOf, fixture, forever, inspect, patienceMs } from './files.ts'
import { withTimes } from './matroska.ts'
import { sampleRate } from './tones.ts'

setDefaultTimeout(patienceMs)

const times = 25
const repeated: { name: string; codec: string; slackMs?: number }[] = [
  { name: 'adts.aac', codec: 'aac' },
  { name: 'vbr-without-header.mp3', codec: 'mp3' },
  // The decoder drops the first 6.5 ms of each repetition of the Opus file. The packet durations include this time, so
  // `slackMs` allows the difference.
  { name: 'opus.opus', codec: 'opus', slackMs: times * 6.5 },
  { name: 'vorbis.ogg', codec: 'vorbis' },
  { name: 'mpeg2-aac.ts', codec: 'aac' },
  { name: 'h264-ac3.mts', codec: 'ac3' },
  { name: 'mpeg2-ac3.vob', codec: 'ac3' },
]

describe.each(repeated)(`$name, ${times} times over`, ({ name, codec, slackMs = 50 }) => {
  test('the inspected duration equals that of the decoded samples', async () => {
    const folder = temporaryFolder()
    const path = join(folder, name)
    const once = readFileSync(fixture(name))
    writeFileSync(path, Buffer.concat(Array.from({ length: times }, () => once)))
    const inspection = await inspect(path)
    const decodedMs = ((await decodeAll(path)).length / sampleRate) * 1000
    expect(inspection.codec).toBe(codec)
    expect(Math.abs(inspection.durationMs - decodedMs)).toBeLessThan(slackMs)
    expect(Math.abs(inspection.durationMs - times * 2000)).toBeLessThan(times * 50)
  })
})

test('a chain may have more links than a process may have open files', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'chain.ogg')
  const three = readFileSync(fixture('chain-of-others.ogg'))
  const links = 270
  writeFileSync(path, Buffer.concat(Array.from({ length: links / 3 }, () => three)))
  expect((await inspect(path)).durationMs).toBeGreaterThan(links * 1990)
})

test('the duration of 45 seconds of PCM samples is exactly 45 seconds', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'long.wav')
  const header = readFileSync(fixture('pcm.wav')).subarray(0, 44)
  // The header of pcm.wav gives the size of two seconds of sound, and FFmpeg would read no more. The size 0xffffffff
  // means unknown, so FFmpeg reads the whole file.
  header.writeUInt32LE(0xffffffff, 40)
  writeFileSync(path, Buffer.concat([header, Buffer.alloc(45 * 8000 * 2)]))
  expect(await inspect(path)).toMatchObject({ durationMs: 45_000 })
})

const exact: [rate: number, samples: number, durationMs: number | string][] = [
  [16_000, 31_999, 1999],
  [16_000, 32_000, 2000],
  [44_100, 88_199, 1999],
  [44_100, 88_200, 2000],
  [11_025, 45 * 11_025 - 1, 44_999],
  [11_025, 45 * 11_025, 45_000],
  [48_000, 48_000, 1000],
  [48_000, 47_999, 'The audio is 0.999 seconds long; at least 1 second is needed.'],
  [16_000, 15_360, 'The audio is 0.960 seconds long; at least 1 second is needed.'],
]

test.each(exact)('%i Hz and %i samples have the exact duration %p', async (rate, samples, duration) => {
  const path = join(temporaryFolder(), 'exact.wav')
  writeFileSync(path, wav(rate, samples))
  if (typeof duration === 'number') expect(await inspect(path)).toMatchObject({ durationMs: duration })
  else expect(await failureOf(inspect(path))).toEqual({ code: 'INVALID_MEDIA_FORMAT', message: duration })
})

test('audio that is one sample longer than the limit is too long', async () => {
  const path = join(temporaryFolder(), 'limit.wav')
  const limited = openMedia({ durationMsMin: 1000, durationMsMax: 2000, bounds })
  writeFileSync(path, wav(48_000, 96_000))
  expect(await limited.inspect(path, { signal: forever })).toMatchObject({ durationMs: 2000 })
  writeFileSync(path, wav(48_000, 96_001))
  expect(await failureOf(limited.inspect(path, { signal: forever }))).toMatchObject({
    code: 'DURATION_TOO_LONG',
  })
})

test('a first timestamp that is no whole number of microseconds takes nothing from the duration', async () => {
  expect(await inspect(fixture('mpeg2-ac3.vob'))).toMatchObject({ durationMs: 2016 })
})

/** Builds a mono WAV file with 16-bit samples. */
function wav(rate: number, samples: number): Buffer {
  const bytes = Buffer.alloc(44 + samples * 2)
  readFileSync(fixture('pcm.wav')).copy(bytes, 0, 0, 44)
  bytes.writeUInt32LE(bytes.length - 8, 4)
  bytes.writeUInt32LE(rate, 24)
  bytes.writeUInt32LE(rate * 2, 28)
  bytes.writeUInt32LE(samples * 2, 40)
  return bytes
}

/**
 * Inspects and decodes a Matroska file of packets with half a second of sound each. Returns both durations in
 * milliseconds.
 */
async function durationsOf(packets: { atMs: number; lengthMs: number }[]): Promise<[number, number]> {
  const path = join(temporaryFolder(), 'times.mkv')
  const samples = new Float32Array(sampleRate / 2)
  writeFileSync(path, withTimes(packets.map(packet => ({ ...packet, samples }))))
  return [(await inspect(path)).durationMs, ((await decodeAll(path)).length / sampleRate) * 1000]
}

test.each([1, 900, 990, 1800, 60_000])(
  'packets of half a second count as half a second, even if their length in the file is %i ms',
  async lengthMs => {
    const packets = Array.from({ length: 120 }, (_, i) => ({ atMs: i * 500, lengthMs }))
    expect(await durationsOf(packets)).toEqual([60_000, 60_000])
  },
)

test('packets whose times stand still count as half a second, whatever their length in the file is', async () => {
  const atMs = (i: number) => (i < 70 ? i * 500 : 34_500 + i - 69)
  const packets = Array.from({ length: 120 }, (_, i) => ({ atMs: atMs(i), lengthMs: 1 }))
  const [durationMs, decodedMs] = await durationsOf(packets)
  // From packet 70 on, each packet starts only 1 ms after the previous one, but still has half a second of sound. One
  // or two such times in a row may be right: the packets then overlap, and the overlap must be cut. So the program cuts
  // the sound of packets 70 and 71, almost one second. Three or more such times in a row are wrong. So from packet 72
  // on, no sound is cut.
  expect(decodedMs).toBeGreaterThan(58_900)
  expect(Math.abs(durationMs - decodedMs)).toBeLessThan(1500)
})

test('a time of three million years is too long, and no failure of the program', async () => {
  const years = 3_000_000 * 365.25 * 24 * 60 * 60 * 1000
  const packets = [0, years, years + 500].map(atMs => ({ atMs, lengthMs: 500 }))
  expect(await failureOf(durationsOf(packets))).toMatchObject({ code: 'DURATION_TOO_LONG' })
})

test('after a clock that was set back, wrong lengths are found too', async () => {
  const lengthOf = (i: number) => (i < 70 ? 500 : 60_000)
  const packets = Array.from({ length: 120 }, (_, i) => ({ atMs: (i % 70) * 500, lengthMs: lengthOf(i) }))
  expect(await durationsOf(packets)).toEqual([60_000, 60_000])
})

const lies: { what: string; name: string; after: string; offset: number }[] = [
  { what: 'the number of frames in a Xing header', name: 'cbr.mp3', after: 'Info', offset: 4 },
  { what: 'the duration of a film', name: 'h264-aac.mp4', after: 'mvhd', offset: 16 },
  { what: 'the length of a FLAC stream', name: 'flac.flac', after: 'fLaC', offset: 18 },
  { what: 'the number of samples in AIFF', name: 'pcm.aiff', after: 'COMM', offset: 6 },
]

test.each(lies)('the duration does not depend on $what in the header', async ({ name, after, offset }) => {
  const folder = temporaryFolder()
  const path = join(folder, name)
  const bytes = readFileSync(fixture(name))
  bytes.writeUInt32BE(0x00ffffff, bytes.indexOf(after) + after.length + offset)
  writeFileSync(path, bytes)
  expect(Math.abs((await inspect(path)).durationMs - 2000)).toBeLessThan(50)
})

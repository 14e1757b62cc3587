// Tests Matroska files whose packets are compressed or encrypted, and WAV files with big-endian numbers.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { temporaryFolder } from '../support/folder.ts'
import { decodeAll, failureOf, fixture, inspect, patienceMs } from './files.ts'
import { compression, encryption, withEncodings } from './matroska.ts'
import { expectTune, tune } from './tones.ts'

setDefaultTimeout(patienceMs)

const sound = await decodeAll(fixture('pcm.wav'))
const compressed =
  'The packets of the audio track are compressed a second time, which is not supported. ' +
  'Copy the file with mkvmerge --compression -1:none.'
const encrypted = 'The audio track is encrypted (DRM), so it cannot be read.'
const garble = (packet: Buffer) => Buffer.from(packet.map((byte, at) => byte ^ (at * 167 + 31)))

function written(bytes: Uint8Array, name = 'talk.mkv'): string {
  const path = join(temporaryFolder(), name)
  writeFileSync(path, bytes)
  return path
}

test('a track without encodings is decoded', async () => {
  expectTune(await decodeAll(written(withEncodings(sound, []))), tune)
})

test('a track without the first bytes of its packets is decoded', async () => {
  // Matroska's header stripping: the packets in the file lack their first two bytes (one sample). The header of the
  // track has these bytes, and FFmpeg inserts them before each packet.
  const bytes = withEncodings(sound, [compression(3, Buffer.alloc(2))], packet => packet.subarray(2))
  expectTune(await decodeAll(written(bytes)), tune)
})

test.each([
  ['zlib', [compression(0)], deflateSync, compressed],
  ['zlib by default', [Buffer.alloc(0)], deflateSync, compressed],
  ['bzlib', [compression(1)], garble, compressed],
  ['two encodings', [compression(3), compression(0)], deflateSync, compressed],
  ['a key', [encryption(Buffer.alloc(16, 7))], garble, encrypted],
  ['a key without a name', [encryption(Buffer.alloc(0))], garble, encrypted],
])('a track whose packets are encoded is refused: %s', async (_, encodings, encode, message) => {
  const path = written(withEncodings(sound, encodings, encode))
  expect(await failureOf(inspect(path))).toEqual({ code: 'INVALID_MEDIA_FORMAT', message })
})

test.each([
  ['60 subtitle tracks precede it', { subtitles: 60 }],
  ['the file has no sizes', { isStreamed: true }],
  ['a gap precedes the segment', { hasGap: true }],
  ['the tracks are behind the packets', { behind: 'in the first list' }],
  [
    'the tracks are behind the packets, and a second list names them',
    { behind: 'in another list', subtitles: 60 },
  ],
] as const)(
  'a track is decoded, and it is refused if its packets are encoded: %s',
  async (_, arrangement) => {
    const plain = await decodeAll(written(withEncodings(sound, [], undefined, arrangement)))
    expectTune(plain, tune)
    const encoded = withEncodings(sound, [compression(0)], deflateSync, arrangement)
    expect((await failureOf(inspect(written(encoded)))).message).toBe(compressed)
  },
)

test('a track whose packets are encoded is refused behind an ID3 tag', async () => {
  const tag = Buffer.from('ID3\x03\0\0\0\0\0\x0a'.padEnd(20, '\0'), 'latin1')
  const encoded = withEncodings(sound, [compression(0)], deflateSync, { subtitles: 60 })
  expect((await failureOf(inspect(written(Buffer.concat([tag, encoded]))))).message).toBe(compressed)
})

test('a track with two lists of encodings is refused', async () => {
  const encodings = [compression(3), compression(3)]
  const encoded = withEncodings(sound, encodings, garble, { isSplit: true })
  expect((await failureOf(inspect(written(encoded)))).message).toBe(compressed)
})

/** Returns the file pcm.wav as a RIFX file: all its numbers are big-endian. */
function rifx(formatTag = 1): Buffer {
  const wav = Buffer.from(readFileSync(fixture('pcm.wav')))
  wav.write('RIFX', 0)
  const data = wav.indexOf('data')
  for (const at of [4, 16, 24, 28, data + 4]) wav.subarray(at, at + 4).swap32()
  for (const at of [20, 22, 32, 34]) wav.subarray(at, at + 2).swap16()
  wav.subarray(data + 8).swap16()
  wav.writeUInt16BE(formatTag, 20)
  return wav
}

test('a WAV file with big-endian numbers is decoded', async () => {
  expect(await inspect(written(rifx(), 'big.wav'))).toMatchObject({ container: 'wav', durationMs: 2000 })
  expect(await decodeAll(written(rifx(), 'big.wav'))).toEqual(sound)
})

test('a WAV file with big-endian numbers and a compressed codec is refused', async () => {
  const imaAdpcm = 0x11
  expect(await failureOf(inspect(written(rifx(imaAdpcm), 'big.wav')))).toEqual({
    code: 'INVALID_MEDIA_FORMAT',
    message: 'The audio track is in a codec that is not supported.',
  })
})

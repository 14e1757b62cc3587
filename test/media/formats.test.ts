// Tests every accepted container with its usual codecs: the detected format, the duration, and the decoded sound.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { contentTypes } from '../../src/media/formats.ts'
import { temporaryFolder } from '../support/folder.ts'
import { decodeAll, failureOf, fixture, inspect, patienceMs } from './files.ts'
import { mediaFixtures } from './fixtures.ts'
import { expectTune, later, sampleRate, tune } from './tones.ts'

setDefaultTimeout(patienceMs)

test('every extension has a fixture', () => {
  const extensions = new Set(mediaFixtures.map(({ name }) => name.split('.').at(-1)))
  expect(Object.keys(contentTypes).filter(extension => !extensions.has(extension))).toEqual([])
})

describe.each(mediaFixtures)('$name', ({ name, container, codec, durationMs = 2000, lateMs = 0 }) => {
  test('is inspected', async () => {
    const inspection = await inspect(fixture(name))
    expect(inspection).toMatchObject({ container, codec, channels: 1 })
    expect(Math.abs(inspection.durationMs - durationMs)).toBeLessThan(50)
  })

  test('is decoded to its tones', async () => {
    const samples = await decodeAll(fixture(name))
    expect(Math.abs((samples.length / sampleRate) * 1000 - durationMs)).toBeLessThan(50)
    expectTune(samples, later(tune, lateMs / 1000))
  })
})

test('AMR in 3GP, as phones record it, has the duration of its frames', async () => {
  expect(await inspect(fixture('amr.3gp'))).toMatchObject({
    container: 'mov',
    codec: 'amr_nb',
    durationMs: 2000,
  })
  expect(await decodeAll(fixture('amr.3gp'))).toHaveLength(2 * sampleRate)
})

const amrFiles = [
  { codec: 'AMR-NB', mark: '#!AMR\n', speech: amrFrame(0, 13), noise: amrFrame(8, 6) },
  { codec: 'AMR-WB', mark: '#!AMR-WB\n', speech: amrFrame(0, 18), noise: amrFrame(9, 6) },
]

/**
 * Makes an AMR frame. `kind` 0 is speech at the lowest bit rate, and 15 is a frame without data. The noise of a pause
 * is kind 8 in AMR-NB and kind 9 in AMR-WB.
 */
function amrFrame(kind: number, bytes: number): Buffer {
  // 0x54 at the start of a frame means kind 10, which does not exist. A decoder that starts at a wrong byte therefore
  // fails.
  return Buffer.alloc(bytes, 0x54).fill((kind << 3) | 4, 0, 1)
}

test.each(amrFiles)('$codec outside a container has all its frames', async ({ mark, speech }) => {
  await expectTwoSeconds(mark, new Array(100).fill(speech))
})

test.each(amrFiles)('$codec has the length of its pauses', async ({ mark, speech, noise }) => {
  const nothing = amrFrame(15, 1)
  await expectTwoSeconds(mark, new Array(20).fill([speech, noise, nothing, nothing, nothing]).flat())
})

async function expectTwoSeconds(mark: string, frames: Buffer[]): Promise<void> {
  const path = join(temporaryFolder(), 'voice.3gp')
  writeFileSync(path, Buffer.concat([Buffer.from(mark), ...frames]))
  expect((await inspect(path)).durationMs).toBe(2000)
  expect(await decodeAll(path)).toHaveLength(2 * sampleRate)
}

test('a WAV file with the extensible header and 24-bit integers in 32-bit samples is decoded', async () => {
  const path = join(temporaryFolder(), 'recording.wav')
  writeFileSync(path, extensibleWav(readFileSync(fixture('pcm.wav')).subarray(44)))
  expect((await inspect(path)).codec).toBe('pcm_s32le')
  expect(await decodeAll(path)).toEqual(await decodeAll(fixture('pcm.wav')))

  // The same samples with the older WAV header. Each sample has 32 bits, of which 24 are used. An old program stored
  // floats in this form, so FFmpeg must decode this file as floats.
  const plain = readFileSync(path)
  plain.writeUInt16LE(1, 20)
  plain.writeUInt16LE(24, 34)
  writeFileSync(path, plain)
  expect((await inspect(path)).codec).toBe('pcm_f24le')
})

/** Returns a WAV file at 8 kHz, made from 16-bit samples. Each of its samples has 32 bits, of which 24 are used. */
function extensibleWav(samples: Buffer): Buffer {
  const data = Buffer.alloc(2 * samples.length)
  for (let at = 0; at < samples.length; at += 2) samples.copy(data, 2 * at + 2, at, at + 2)
  const head = Buffer.alloc(68)
  head.write('RIFF')
  head.writeUInt32LE(head.length - 8 + data.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(40, 16)
  head.writeUInt16LE(0xfffe, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8000, 24)
  head.writeUInt32LE(8000 * 4, 28)
  head.writeUInt16LE(4, 32)
  head.writeUInt16LE(32, 34)
  head.writeUInt16LE(22, 36)
  head.writeUInt16LE(24, 38)
  head.writeUInt32LE(4, 40)
  head.write('0100000000001000800000aa00389b71', 44, 'hex')
  head.write('data', 60)
  head.writeUInt32LE(data.length, 64)
  return Buffer.concat([head, data])
}

test('a WAV file with the header of files above 4 GB is read to its end if its recorder wrote no size', async () => {
  const path = join(temporaryFolder(), 'crashed.wav')
  writeFileSync(path, withoutSize(readFileSync(fixture('pcm.wav'))))
  expect(await decodeAll(path)).toEqual(await decodeAll(fixture('pcm.wav')))
})

/** Returns a WAV file with the header of files above 4 GB. The size of the sound is missing in the header. */
function withoutSize(wav: Buffer): Buffer {
  const head = Buffer.from('RF64\xff\xff\xff\xffWAVEds64\x1c\0\0\0'.padEnd(20 + 28, '\0'), 'latin1')
  const file = Buffer.concat([head, wav.subarray(12)])
  return file.fill(0xff, head.length + 28, head.length + 32)
}

const id3Tag = Buffer.from('ID3\x03\0\0\0\0\x02\0'.padEnd(10 + 256, '\0'), 'latin1')

test('an ID3 tag before the media is skipped', async () => {
  const path = join(temporaryFolder(), 'tagged.wav')
  const plain = readFileSync(fixture('pcm.wav'))
  for (const media of [plain, extensibleWav(plain.subarray(44)), withoutSize(plain)]) {
    writeFileSync(path, Buffer.concat([id3Tag, media]))
    expect(await decodeAll(path)).toEqual(await decodeAll(fixture('pcm.wav')))
  }
})

test('an MP4 file behind an ID3 tag is refused, because its packets are not at the offsets in its tables', async () => {
  const path = join(temporaryFolder(), 'tagged.3gp')
  writeFileSync(path, Buffer.concat([id3Tag, readFileSync(fixture('amr.3gp'))]))
  expect(await failureOf(inspect(path))).toMatchObject({ code: 'INVALID_MEDIA_FORMAT' })
})

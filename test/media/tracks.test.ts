// Tests which track is decoded if a file has several tracks of sound.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/folder.ts'
import { decodeAll, fixture, inspect, patienceMs } from './files.ts'
import { expectTune, tune } from './tones.ts'

setDefaultTimeout(patienceMs)

const packBytes = 2048

test.each([
  ['the default track', 'default-second.mkv'],
  ['the track that is not a commentary', 'commentary-first.mkv'],
  ['the track that is not disabled', 'disabled-first.m4a'],
])('steno decodes %s, as a media player does', async (_, name) => {
  expect((await inspect(fixture(name))).durationMs).toBe(2000)
  expectTune(await decodeAll(fixture(name)), tune)
})

test.each([
  ['the track of the other microphone, if one is silent', 'silent-first.mov'],
  ['a disabled track in place of silence', 'silent-enabled.mov'],
  ['the first track, if both microphones have sound', 'both-loud.mov'],
])('of the mono tracks of a recorder, steno decodes %s', async (_, name) => {
  expect(await inspect(fixture(name))).toMatchObject({ channels: 1, durationMs: 2000 })
  expectTune(await decodeAll(fixture(name)), tune)
})

test('of a part of a DVD, the track with the lowest number is decoded, even if another one occurs first', async () => {
  const film = readFileSync(fixture('mpeg2-ac3.vob'))
  const sound = film.indexOf(Buffer.from([0, 0, 1, 0xbd]))
  const other = Buffer.from(
    film.subarray(sound - (sound % packBytes), sound - (sound % packBytes) + packBytes),
  )
  // The track number follows the packet header. The header has nine bytes, and then as many bytes as its ninth byte
  // says.
  const number = (sound % packBytes) + 9 + film.readUInt8(sound + 8)
  expect(other.readUInt8(number)).toBe(0x80)
  other.writeUInt8(0x81, number)
  const path = join(temporaryFolder(), 'VTS_01_2.VOB')
  writeFileSync(path, Buffer.concat([other, film]))
  expectTune(await decodeAll(path), tune)
})

// Tests how the media program recognises simple edit lists of MP4 files. An edit list tells which part of a track is
// played. A simple one only delays the sound, trims its start, or trims at most 0.1 s of its end. FFmpeg need not apply
// a simple list in full. To apply a list in full, FFmpeg builds its index of all packets a second time, which takes
// much memory for a long file.

import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/folder.ts'
import { runCheck } from './checks.ts'
import { fixture } from './files.ts'

test.each(['aac.m4a', 'late.m4a', 'edit-list.m4a', 'late-sound.mp4', 'mpeg4-pcm.mov'])(
  'the edit list of %s is simple',
  name => {
    expect(isPlain(fixture(name))).toBe(true)
  },
)

test.each(['cbr.mp3', 'pcm.wav', 'h264-eac3.mkv', 'make.sh'])('%s has no simple edit list', name => {
  expect(isPlain(fixture(name))).toBe(false)
})

test('for a small index FFmpeg applies the full edit list', () => {
  expect(isPlain(fixture('aac.m4a'), 4 * 1024 ** 2)).toBe(false)
})

test('an edit that cuts off the end is not simple', async () => {
  expect(await isPlainAfter(list => list.writeUInt32BE(1000, 8))).toBe(false)
})

test('two edits are not simple', async () => {
  expect(await isPlainAfter(list => list.writeUInt32BE(2, 4))).toBe(false)
})

test('the walk through thousands of nested boxes is limited', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'nested.mp4')
  const depth = 20_000
  const bytes = Buffer.alloc(8 * depth)
  for (let level = 0; level < depth; level++) {
    bytes.writeUInt32BE(8 * (depth - level), 8 * level)
    bytes.write(level === 0 ? 'moov' : 'trak', 8 * level + 4, 'latin1')
  }
  writeFileSync(path, bytes)
  expect(isPlain(path)).toBe(false)
})

/**
 * Copies aac.m4a, and calls `change` with all bytes of the copy after the name `elst`. They begin with the content of
 * the edit list, which tells the part of the sound that is played. Returns true if the media program recognises the
 * changed list as simple. A simple list only delays the sound, trims its start, or trims at most 0.1 s of its end.
 */
async function isPlainAfter(change: (list: Buffer) => void): Promise<boolean> {
  const folder = temporaryFolder()
  const path = join(folder, 'changed.m4a')
  const bytes = readFileSync(fixture('aac.m4a'))
  change(bytes.subarray(bytes.indexOf('elst') + 4))
  writeFileSync(path, bytes)
  return isPlain(path)
}

function isPlain(path: string, indexBytesMin = 0): boolean {
  return runCheck(['edits', `${indexBytesMin}`], Bun.file(path)).toString() === '1\n'
}

// Tests the hashes of the programs in native/, and the version and licence of FFmpeg. Also tests that a setting can
// replace the media program.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import built from '../../native/built.json'
import { sha256 } from '../../src/base/hash.ts'
import { readConfig } from '../../src/config.ts'
import { openMedia } from '../../src/media/inspect.ts'
import { findProgram } from '../../src/media/program.ts'
import { failureOf, fixture, forever } from './files.ts'

test.each(Object.entries(built.programs))('%s is the program that was built', (path, hash) => {
  expect(sha256(readFileSync(join(import.meta.dir, '../../native', path)))).toBe(hash)
})

test('the media program names its FFmpeg and a licence that is not the GPL', () => {
  const { stdout } = Bun.spawnSync([findProgram(null), 'version'])
  expect(JSON.parse(stdout.toString())).toEqual({
    protocol: 1,
    ffmpeg: built.ffmpeg.version,
    license: 'LGPL version 2.1 or later',
  })
})

test('STENO_MEDIA replaces the media program', async () => {
  const { mediaProgram, ...settings } = readConfig({ STENO_MEDIA: '/bin/true' })
  expect(mediaProgram).toBe('/bin/true')
  const inspected = (program: string | null) =>
    openMedia({ ...settings, mediaProgram: program }).inspect(fixture('pcm.wav'), { signal: forever })
  expect(await failureOf(inspected(mediaProgram))).toMatchObject({ code: 'PROCESSING_ERROR' })
  expect(await inspected(findProgram(null))).toMatchObject({ durationMs: 2000 })
})

// Tests the hashes of the programs in native/, and the version and licence of FFmpeg. Also tests that a setting can
// replace the media program, and what happens if the media program cannot be started.

import { afterEach, expect, mock, spyOn, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import built from '../../native/built.json'
import * as carried from '../../src/base/carried.ts'
import { sha256 } from '../../src/base/hash.ts'
import { log } from '../../src/base/log.ts'
import { readConfig } from '../../src/config.ts'
import { openMedia } from '../../src/media/inspect.ts'
import { findProgram } from '../../src/media/program.ts'
import { startWhenPossible } from '../../src/media/spawn.ts'
import { openFilesIn } from '../support/open-files.ts'
import { failureOf, fixture, forever } from './files.ts'

afterEach(() => mock.restore())

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

const wav = fixture('pcm.wav')

/**
 * Makes the next `times` starts of a child process fail with the error `code`. Each pause (`Bun.sleep`) calls `onPause`
 * and ends at once.
 */
function failStarts(code: string, times: number, onPause = () => {}) {
  const spawn = Bun.spawn
  let starts = 0
  spyOn(Bun, 'spawn').mockImplementation(((...given: Parameters<typeof spawn>) => {
    starts += 1
    if (starts <= times) throw Object.assign(new Error('no start'), { code })
    return spawn(...given)
  }) as typeof spawn)
  spyOn(Bun, 'sleep').mockImplementation(() => {
    onPause()
    return new Promise(resolve => setImmediate(resolve))
  })
}

test.each(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'])(
  'after the error %s, the media program is started again',
  async code => {
    const waits = spyOn(log, 'warn').mockImplementation(() => {})
    failStarts(code, 2)
    const { exited } = await startWhenPossible(null, ['version'], wav, { signal: forever, waitMs: 60_000 })
    expect(await exited).toBe(0)
    expect(waits.mock.calls).toEqual(Array(2).fill(['media program waits', { cause: 'no start' }]))
    expect(openFilesIn(wav)).toEqual([])
  },
)

test('a media program that cannot be started for too long fails the job, and a stopped job starts none', async () => {
  spyOn(log, 'warn').mockImplementation(() => {})
  failStarts('EAGAIN', Infinity)
  const late = startWhenPossible(null, [], wav, { signal: forever, waitMs: 1 })
  expect(await failureOf(late)).toMatchObject({ code: 'INTERNAL_ERROR' })
  const stop = new AbortController()
  failStarts('EAGAIN', 1, () => stop.abort('cancelled'))
  const { signal } = stop
  expect(await startWhenPossible(null, [], wav, { signal, waitMs: 60_000 }).catch(reason => reason)).toBe(
    'cancelled',
  )
})

test('a stopped job does not wait until the files of the program can be unpacked', async () => {
  const warn = spyOn(log, 'warn').mockImplementation(() => {})
  const stop = new AbortController()
  failStarts('', 0, () => stop.abort('cancelled'))
  spyOn(carried, 'unpackCarried').mockImplementation(async () => {
    throw Object.assign(new Error('no files'), { code: 'EMFILE' })
  })
  const { signal } = stop
  const stopped = startWhenPossible(null, [], wav, { signal, waitMs: 100 })
  expect(await stopped.catch(reason => reason)).toBe('cancelled')
  expect(warn).toHaveBeenCalledTimes(1)
})

// Tests every accepted container with its usual codecs: the inspected format and duration, and the decoded
// sound.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { contentTypes } from '../../src/media/formats.ts'
import { temporaryFolder } from '../support/folder.ts'
import { decodeAll, fixture, inspect, patienceMs } from './files.ts'
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

test('an ID3 tag before the media is skipped', async () => {
  const path = join(temporaryFolder(), 'tagged.wav')
  const tag = Buffer.from('ID3\x03\0\0\0\0\x02\0'.padEnd(10 + 256, '\0'), 'latin1')
  writeFileSync(path, Buffer.concat([tag, readFileSync(fixture('pcm.wav'))]))
  expect(await decodeAll(path)).toEqual(await decodeAll(fixture('pcm.wav')))
})

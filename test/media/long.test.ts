// Tests MP4 files with a long index. FFmpeg would read such an index into memory, so the media program reads the packets
// from the tables of the file. The results must be the same.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { JobFailure } from '../../src/errors.ts'
import { decode } from '../../src/media/decode.ts'
import { openMedia } from '../../src/media/inspect.ts'
import { defaults } from '../support/defaults.ts'
import { temporaryFolder } from '../support/folder.ts'
import { seeded } from '../support/random.ts'
import { repeated, withLongIndex, withShortIndex } from './boxes.ts'
import { bounds, decodeAll, fixture, forever, inspect, media, patienceMs } from './files.ts'

setDefaultTimeout(patienceMs)

const MB = 1e6
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
  const { durationMsMin, durationMsMax } = defaults
  const small = openMedia({ durationMsMin, durationMsMax, bounds: { ...bounds, memoryBytes: 20 * MB } })
  expect(await small.inspect(fixture('aac.m4a'), { signal: forever })).toMatchObject({ durationMs: 2000 })
  const inspected = await small.inspect(write(bytes), { signal: forever })
  // A million additions round the sum down, below the full millisecond.
  expect(durationMs - inspected.durationMs).toBeWithin(0, 2)
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

/** Returns the duration and the number of samples, or the codes of the errors. */
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

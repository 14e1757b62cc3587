// Tests which track is decoded if a file has several tracks of sound.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { decodeAll, fixture, inspect, patienceMs } from './files.ts'
import { expectTune, tune } from './tones.ts'

setDefaultTimeout(patienceMs)

test.each([
  ['the default track', 'default-second.mkv'],
  ['the track that is not a commentary', 'commentary-first.mkv'],
  ['the track that is not disabled', 'disabled-first.m4a'],
])('a media player and steno play %s', async (_, name) => {
  expect((await inspect(fixture(name))).durationMs).toBe(2000)
  expectTune(await decodeAll(fixture(name)), tune)
})

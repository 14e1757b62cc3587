// Tests the times of decoded sound, for all kinds of timestamps. A sound that a player plays at 12:34 must be at 12:34
// in the decoded samples.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/folder.ts'
import { decodeAll, fixture, inspect, patienceMs } from './files.ts'
import { withSerial } from './ogg.ts'
import { expectTune, later, type Segment, sampleRate, tune } from './tones.ts'

setDefaultTimeout(patienceMs)

/**
 * Returns the tones of a file that contains the tune twice. `seconds` is the start of the second tune: 2 s, or more if
 * the encoder adds a delay.
 */
const twice = (seconds: number) => [...tune, ...later(tune, seconds).slice(1)]

const files: { name: string; segments: Segment[]; seconds: number; what: string }[] = [
  { name: 'late.mkv', segments: later(tune, 1), seconds: 3, what: 'a recording that starts late' },
  { name: 'late.m4a', segments: later(tune, 1), seconds: 3, what: 'an empty edit before the sound' },
  { name: 'late-sound.mp4', segments: later(tune, 0.7), seconds: 2.7, what: 'sound after the picture' },
  { name: 'late-sound.ts', segments: later(tune, 0.7), seconds: 2.7, what: 'sound after the picture' },
  { name: 'late-sound.mkv', segments: later(tune, 12), seconds: 14, what: 'sound long after the picture' },
  {
    name: 'very-late-sound.ts',
    segments: later(tune, 12),
    seconds: 14,
    what: 'sound long after the picture',
  },
  {
    name: 'edit-list.m4a',
    segments: cut(tune, 0.5),
    seconds: 1.5,
    what: 'a beginning cut off by an edit list',
  },
  { name: 'gap.mkv', segments: hole(tune, { from: 0.7, to: 1.1 }), seconds: 2, what: 'a gap' },
  { name: 'clock-restarts.ts', segments: twice(2), seconds: 4, what: 'a clock that starts again' },
  { name: 'chained.ogg', segments: twice(2), seconds: 4, what: 'two streams one after the other' },
  {
    name: 'chain-of-others.ogg',
    segments: [...twice(2), ...later(tune, 4).slice(1)],
    seconds: 6,
    what: 'streams of different rates in a chain',
  },
  {
    name: 'changing.mp3',
    segments: twice(2.07),
    seconds: 4.09,
    what: 'a change of sample rate and channels',
  },
  {
    name: 'changing.aac',
    segments: twice(2.07),
    seconds: 4.13,
    what: 'a change of sample rate and channels',
  },
  { name: 'cover.m4a', segments: tune, seconds: 2, what: 'a cover picture' },
  { name: 'odd-rate.wav', segments: tune, seconds: 2, what: 'an unusual sample rate' },
  { name: 'high-rate.flac', segments: tune, seconds: 2, what: 'a high rate' },
]

describe.each(files)('$name: $what', ({ name, segments, seconds }) => {
  test('has the times that a player shows', async () => {
    const { durationMs } = await inspect(fixture(name))
    const samples = await decodeAll(fixture(name))
    expect(Math.abs(durationMs / 1000 - seconds)).toBeLessThan(0.05)
    expect(Math.abs(samples.length / sampleRate - seconds)).toBeLessThan(0.05)
    expectTune(samples, segments, 0.06)
  })
})

test('all streams of a chain are decoded, even if the codec changes', async () => {
  const codecs = ['opus.opus', 'vorbis.ogg', 'opus.opus', 'flac.ogg']
  const path = join(temporaryFolder(), 'radio.ogg')
  const links = codecs.map((name, at) => withSerial(readFileSync(fixture(name)), at + 1))
  writeFileSync(path, Buffer.concat(links))
  expect((await inspect(path)).durationMs).toBe(8000)
  const tunes = codecs.flatMap((_, at) => (at === 0 ? tune : later(tune, 2 * at).slice(1)))
  expectTune(await decodeAll(path), tunes)
})

function cut(segments: Segment[], seconds: number): Segment[] {
  return segments
    .map(({ from, to, hertz }) => ({ from: Math.max(0, from - seconds), to: to - seconds, hertz }))
    .filter(({ to }) => to > 0)
}

function hole(segments: Segment[], { from, to }: { from: number; to: number }): Segment[] {
  const before = segments
    .filter(each => each.from < from)
    .map(each => ({ ...each, to: Math.min(each.to, from) }))
  const after = segments
    .filter(each => each.to > to)
    .map(each => ({ ...each, from: Math.max(each.from, to) }))
  return [...before, { from, to, hertz: 0 }, ...after]
}

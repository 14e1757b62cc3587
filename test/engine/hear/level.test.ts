import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { levelled } from '../../../src/engine/hear/level.ts'
import { chunkSamples, openVad } from '../../../src/engine/hear/vad.ts'
import { vadModel } from '../../../src/engine/onnx/library.ts'
import { clips, runtime, unless } from '../../support/engine-room.ts'
import { readSound } from '../../support/read-sound.ts'
import { tone } from '../../support/sound.ts'

const peakOf = (samples: Float32Array) =>
  samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)

test('sound of a usual level is passed on as it is', () => {
  const samples = tone(2, 300, 0.1)
  expect(levelled(samples)).toBe(samples)
})

test.each([
  ['40 dB below a usual level is raised to it', 0.001, 0.1],
  ['70 dB below a usual level is raised by 30 dB', 0.00003, 0.001],
])('sound %s', (_, amplitude, peak) => {
  const raised = peakOf(levelled(tone(2, 300, amplitude)))
  expect(raised).toBeGreaterThan(peak * 0.3)
  expect(raised).toBeLessThan(peak * 2)
})

test.each([
  ['nothing', new Float32Array(0)],
  ['one sample', Float32Array.of(0.5)],
  ['silence', new Float32Array(1000)],
])('%s is passed on as it is', (_, samples) => {
  expect(levelled(samples)).toBe(samples)
})

test('a click does not hide quiet speech', () => {
  const samples = tone(2, 300, 0.005)
  samples.fill(0.9, 8000, 8200)
  expect(levelled(samples)[100]!).not.toBe(samples[100]!)
})

test('quiet sound between long digital silence is raised', () => {
  const samples = new Float32Array(64_000)
  samples.set(tone(0.1, 300, 0.005), 32_000)
  expect(peakOf(levelled(samples))).toBeGreaterThan(0.05)
})

test.skipIf(!clips)(
  `voice detection finds speech 60 dB below full scale in a minute of digital silence${unless(clips, 'clip')}`,
  async () => {
    const clip = (await readSound(join(clips!, 'en-short.flac'))).subarray(0, 32_000)
    const vad = openVad(runtime(), await Bun.file(vadModel()).bytes())
    const spoken = (samples: Float32Array) =>
      vad
        .start()(levelled(samples))
        .filter(probability => probability >= 0.5).length
    const padded = new Float32Array(chunkSamples)
    const peak = peakOf(clip)
    for (const [at, sample] of clip.entries())
      padded[320_000 + at] = Math.round(((0.001 * sample) / peak) * 32_768) / 32_768
    const [expected, found] = [spoken(clip), spoken(padded)]
    vad.close()
    expect(expected).toBeGreaterThan(30)
    expect(found).toBeGreaterThan(0.9 * expected)
  },
)

import { expect, test } from 'bun:test'
import { sampleRate } from '../../src/engine/audio.ts'
import { Peaks } from '../../src/engine/peaks.ts'

const perPeak = sampleRate / 20

/** Returns the peaks of a sound that arrives in chunks of `size` samples each. */
async function peaksOf(samples: Float32Array, size: number): Promise<number[]> {
  const peaks = new Peaks()
  const heard: number[] = []
  async function* parts() {
    for (let at = 0; at < samples.length; at += size) yield samples.subarray(at, at + size)
  }
  for await (const part of peaks.of(parts())) heard.push(...part)
  expect(heard).toEqual([...samples])
  return [...peaks.bytes()]
}

test.each([1, 100, perPeak, 10_000])(
  'a peak is the highest amplitude of 50 ms, in parts of %d',
  async size => {
    const samples = new Float32Array(3 * perPeak + 10)
    samples[5] = 0.5
    samples[2 * perPeak - 1] = -1
    samples[2 * perPeak] = 2
    samples[3 * perPeak + 9] = 0.1
    expect(await peaksOf(samples, size)).toEqual([128, 255, 255, 26])
  },
)

test('sound of whole peaks has no further peak, and no sound has none', async () => {
  expect(await peaksOf(new Float32Array(2 * perPeak), 1000)).toEqual([0, 0])
  expect(await peaksOf(new Float32Array(0), 1000)).toEqual([])
})

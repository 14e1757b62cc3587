import { expect, test } from 'bun:test'
import { levelled } from '../../../src/engine/hear/level.ts'
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

import { expect, test } from 'bun:test'
import { melFilters } from '../../../src/engine/mel.ts'
import { melBands, openPowerMel } from '../../../src/engine/who/power-mel.ts'
import { runtime } from '../../support/engine-room.ts'
import { noise } from '../../support/sound.ts'

/**
 * Computes the power in the mel bands of one frame by definition: in 64-bit floats, without a fast Fourier
 * transform.
 */
function byDefinition(samples: Float32Array, frame: number): number[] {
  const cut = Array.from({ length: 400 }, (_, n) => {
    const value = samples[frame * 160 - 200 + n] ?? 0
    return value * (0.5 - 0.5 * Math.cos((2 * Math.PI * n) / 400))
  })
  const power = Array.from({ length: 201 }, (_, bin) => {
    let real = 0
    let imaginary = 0
    for (const [n, value] of cut.entries()) {
      real += value * Math.cos((2 * Math.PI * bin * n) / 400)
      imaginary -= value * Math.sin((2 * Math.PI * bin * n) / 400)
    }
    return real * real + imaginary * imaginary
  })
  const filters = melFilters(melBands)
  return Array.from({ length: melBands }, (_, band) =>
    power.reduce((sum, value, bin) => sum + value * filters[band * 201 + bin]!, 0),
  )
}

test('the power in mel bands is equal to the definition, at the edges too', () => {
  const samples = noise(0.2, 0.5, 3)
  const features = openPowerMel(runtime()).of(samples)
  expect(features.length).toBe(21 * melBands)
  for (const frame of [0, 1, 10, 19, 20])
    for (const [band, value] of byDefinition(samples, frame).entries())
      expect(Math.abs(features[frame * melBands + band]! - value)).toBeLessThan(1e-5 + 1e-4 * value)
})

test('an empty sound has one silent frame', () => {
  expect(openPowerMel(runtime()).of(new Float32Array(0))).toEqual(new Float32Array(melBands))
})

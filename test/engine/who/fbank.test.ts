import { expect, test } from 'bun:test'
import { framesIn, openFbank } from '../../../src/engine/who/fbank.ts'
import { bands } from '../../../src/engine/who/fbank-matrices.ts'
import { runtime } from '../../support/engine-room.ts'
import { noise } from '../../support/sound.ts'

const [cosines, sines] = [Math.cos, Math.sin].map(of =>
  Float64Array.from({ length: 512 }, (_, at) => of((2 * Math.PI * at) / 512)),
) as [Float64Array, Float64Array]

/**
 * Computes one frame of Kaldi's filterbank features by their definition: in 64-bit floats, without a fast Fourier
 * transform.
 */
function byDefinition(samples: Float32Array, frame: number): number[] {
  const cut = Array.from(samples.subarray(frame * 160, frame * 160 + 400), value => value * 32_768)
  const mean = cut.reduce((sum, value) => sum + value, 0) / 400
  const level = cut.map(value => value - mean)
  const lifted = level.map((value, n) => value - 0.97 * level[Math.max(0, n - 1)]!)
  const shaped = lifted.map((value, n) => value * (0.54 - 0.46 * Math.cos((2 * Math.PI * n) / 399)))
  const power = Array.from({ length: 256 }, (_, bin) => {
    let real = 0
    let imaginary = 0
    for (let n = 0; n < shaped.length; n++) {
      real += shaped[n]! * cosines[(bin * n) % 512]!
      imaginary -= shaped[n]! * sines[(bin * n) % 512]!
    }
    return real * real + imaginary * imaginary
  })
  const mel = (hertz: number) => 1127 * Math.log(1 + hertz / 700)
  const step = (mel(8000) - mel(20)) / 81
  return Array.from({ length: 80 }, (_, band) => {
    const left = mel(20) + band * step
    const middle = left + step
    const right = middle + step
    const sum = power.reduce((total, value, bin) => {
      const at = mel((bin * 16_000) / 512)
      const weight = Math.min((at - left) / (middle - left), (right - at) / (right - middle))
      return total + Math.max(0, weight) * value
    }, 0)
    return Math.log(Math.max(sum, 1.1920929e-7))
  })
}

function largestDifference(samples: Float32Array): number {
  const features = openFbank(runtime()).of(samples)
  const frames = features.length / bands
  let most = 0
  for (let frame = 0; frame < frames; frame++)
    for (const [band, value] of byDefinition(samples, frame).entries())
      most = Math.max(most, Math.abs(value - features[frame * bands + band]!))
  return most
}

test("features are equal to those of Kaldi's definition", () => {
  const loud = noise(0.2, 0.5, 3)
  expect(largestDifference(loud)).toBeLessThan(1e-3)
  // A quiet sound with a DC offset and a loud low tone. The features subtract the mean, and their pre-emphasis weakens
  // the low tone.
  const deep = Float32Array.from({ length: 3000 }, (_, n) => 0.3 + 0.4 * Math.sin(n / 40) + 1e-3 * loud[n]!)
  expect(largestDifference(deep)).toBeLessThan(0.02)
})

test('digital silence has the lowest value, and no frame extends beyond the end', () => {
  const features = openFbank(runtime()).of(new Float32Array(719))
  expect(features.length).toBe(2 * bands)
  expect(features.every(value => Math.abs(value - Math.log(1.1920929e-7)) < 1e-3)).toBe(true)
  expect([0, 399, 400, 559, 560, 16_000].map(framesIn)).toEqual([0, 0, 1, 1, 2, 98])
  expect(openFbank(runtime()).of(new Float32Array(399)).length).toBe(0)
})

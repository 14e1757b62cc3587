import { expect, test } from 'bun:test'
import { bands, framesIn, openFbank } from '../../../src/engine/who/fbank.ts'
import { runtime } from '../../support/engine-room.ts'
import { noise } from '../../support/sound.ts'

/** Kaldi's definition step by step, in doubles and without any transform. */
function plain(samples: Float32Array, frame: number): number[] {
  const cut = Array.from(samples.subarray(frame * 160, frame * 160 + 400), each => each * 32_768)
  const mean = cut.reduce((sum, each) => sum + each, 0) / 400
  const level = cut.map(each => each - mean)
  const lifted = level.map((each, n) => each - 0.97 * level[Math.max(0, n - 1)]!)
  const shaped = lifted.map((each, n) => each * (0.54 - 0.46 * Math.cos((2 * Math.PI * n) / 399)))
  const power = Array.from({ length: 256 }, (_, bin) => {
    let [real, imaginary] = [0, 0]
    for (const [n, each] of shaped.entries()) {
      real += each * Math.cos((2 * Math.PI * bin * n) / 512)
      imaginary -= each * Math.sin((2 * Math.PI * bin * n) / 512)
    }
    return real * real + imaginary * imaginary
  })
  const mel = (hertz: number) => 1127 * Math.log(1 + hertz / 700)
  const step = (mel(8000) - mel(20)) / 81
  return Array.from({ length: 80 }, (_, band) => {
    const [left, middle, right] = [0, 1, 2].map(each => mel(20) + (band + each) * step) as [
      number,
      number,
      number,
    ]
    const sum = power.reduce((total, each, bin) => {
      const at = mel((bin * 16_000) / 512)
      const weight = Math.min((at - left) / (middle - left), (right - at) / (right - middle))
      return total + Math.max(0, weight) * each
    }, 0)
    return Math.log(Math.max(sum, 1.1920929e-7))
  })
}

function mostOff(samples: Float32Array): number {
  const features = openFbank(runtime()).of(samples)
  const frames = features.length / bands
  let most = 0
  for (let frame = 0; frame < frames; frame++)
    for (const [band, value] of plain(samples, frame).entries())
      most = Math.max(most, Math.abs(value - features[frame * bands + band]!))
  return most
}

test('features are those of the plain definition', () => {
  const loud = noise(0.2, 0.5, 3)
  expect(mostOff(loud)).toBeLessThan(1e-3)
  // An offset and a deep tone, which the mean and the lift are for, beside almost nothing.
  const deep = Float32Array.from({ length: 3000 }, (_, n) => 0.3 + 0.4 * Math.sin(n / 40) + 1e-3 * loud[n]!)
  expect(mostOff(deep)).toBeLessThan(0.02)
})

test('digital silence is the floor, and no frame reaches over the end', () => {
  const features = openFbank(runtime()).of(new Float32Array(719))
  expect(features.length).toBe(2 * bands)
  expect(features.every(each => Math.abs(each - Math.log(1.1920929e-7)) < 1e-3)).toBe(true)
  expect([0, 399, 400, 559, 560, 16_000].map(framesIn)).toEqual([0, 0, 1, 1, 2, 98])
  expect(openFbank(runtime()).of(new Float32Array(399)).length).toBe(0)
})

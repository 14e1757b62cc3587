import { expect, test } from 'bun:test'
import { Downmix } from '../../../src/media/child/downmix.ts'
import { noise, tone } from '../../support/sound.ts'

/** Mixes both channels in parts of 1,024 samples, because a decoder also returns a file in frames. */
function mixed(left: Float32Array, right: Float32Array): number[] {
  const downmix = new Downmix()
  const part = 1024
  return Array.from({ length: Math.ceil(left.length / part) }, (_, index) => {
    const [one, other] = [left, right].map(side => side.subarray(index * part, (index + 1) * part))
    return [...downmix.mix(Float32Array.from([...one!].flatMap((sample, at) => [sample, other![at]!])))]
  }).flat()
}

const speech = tone(2, 300, 0.5)
const silence = new Float32Array(speech.length)
const inverse = speech.map(sample => -sample)

const near = (found: number[], expected: Float32Array) =>
  Math.max(...found.map((sample, at) => Math.abs(sample - expected[at]!)))

test('equal channels have themselves as the mix', () => {
  expect(near(mixed(speech, speech), speech)).toBeLessThan(1e-6)
})

test('a silent channel halves the other one', () => {
  const half = speech.map(sample => sample / 2)
  expect(near(mixed(speech, silence), half)).toBeLessThan(1e-6)
})

test('of channels with opposite phase one is taken', () => {
  expect(near(mixed(speech, inverse), speech)).toBeLessThan(1e-6)
})

test('of channels with opposite phase and a noise of their own one is taken', () => {
  const [one, other] = [noise(2, 0.02), noise(2, 0.02, 7)]
  const left = speech.map((sample, at) => sample + one[at]!)
  const right = inverse.map((sample, at) => sample + other[at]!)
  expect(near(mixed(left, right), left)).toBeLessThan(1e-6)
})

test('two voices, one in each channel, are both in the mix', () => {
  const other = tone(2, 470, 0.4)
  const both = speech.map((sample, at) => (sample + other[at]!) / 2)
  expect(near(mixed(speech, other), both)).toBeLessThan(1e-6)
})

import { expect, test } from 'bun:test'
import { joinFloats } from '../../../src/base/join-floats.ts'
import { hopSamples } from '../../../src/engine/crosstalk/find-crosstalk.ts'
import { withoutCrosstalk } from '../../../src/engine/crosstalk/mute.ts'

async function muted(size: number, crosstalk: number[]): Promise<Float32Array> {
  const sound = async function* () {
    const whole = new Float32Array(5 * hopSamples).fill(0.5)
    for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size)
  }
  return joinFloats(await Array.fromAsync(withoutCrosstalk(sound(), Uint8Array.from(crosstalk))))
}

test('crosstalk becomes silence, and the sound fades out and back in 4 ms', async () => {
  const sound = await muted(5 * hopSamples, [0, 1, 1, 0])
  const [begin, end] = [hopSamples, 3 * hopSamples]
  expect(sound.length).toBe(5 * hopSamples)
  expect([sound[begin - 1], sound[begin], sound[end], sound.at(-1)]).toEqual([0.5, 0.5, 0.5, 0.5])
  expect(sound[begin + 32]).toBeCloseTo(0.25, 6)
  expect(sound[end - 32]).toBeCloseTo(0.25, 6)
  expect(sound.subarray(begin + 64, end - 63).every(sample => sample === 0)).toBe(true)
})

test('the parts in which the sound arrives make no difference', async () => {
  const whole = await muted(5 * hopSamples, [1, 0, 1, 1, 0])
  for (const size of [1, 1000, 1024, 3000]) expect(await muted(size, [1, 0, 1, 1, 0])).toEqual(whole)
})

test('a single hop of crosstalk is silent between its fades, and the given samples are not changed', async () => {
  const whole = new Float32Array(3 * hopSamples).fill(0.5)
  const sound = async function* () {
    yield whole
  }
  const [found] = await Array.fromAsync(withoutCrosstalk(sound(), Uint8Array.of(0, 1, 0)))
  expect(Math.min(...found!)).toBe(0)
  expect(whole.every(sample => sample === 0.5)).toBe(true)
})

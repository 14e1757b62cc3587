import { expect, test } from 'bun:test'
import { joinFloats } from '../../../src/base/join-floats.ts'
import { crosstalkWith, findCrosstalk, hopSamples } from '../../../src/engine/crosstalk/find-crosstalk.ts'
import { noise } from '../../support/sound.ts'

/** Two independent sounds of 2 s. They stand for the voices of two people. */
const [one, other] = [noise(2, 0.3, 1), noise(2, 0.3, 2)]
const silence: Float32Array = new Float32Array(one.length)
const join = (...parts: Float32Array[]) => joinFloats(parts)
/** Returns the sum of two sounds. `added` is quieter by `decibels` and later by `delay` samples. */
function sum(sound: Float32Array, added: Float32Array, decibels: number, delay = 0): Float32Array {
  const gain = 10 ** (-decibels / 20)
  return sound.map((sample, at) => sample + gain * (added[at - delay] ?? 0))
}

async function* inParts(sound: Float32Array, size: number): AsyncGenerator<Float32Array> {
  for (let at = 0; at < sound.length; at += size) yield sound.subarray(at, at + size)
}

const crosstalkOf = (...channels: Float32Array[]) =>
  findCrosstalk(channels.map((channel, index) => inParts(channel, 5000 + index)))

/** Returns the share of the hops (64 ms each) from `from` to `to` (seconds) that are marked as crosstalk. */
function marked(crosstalk: Uint8Array | undefined, from: number, to: number): number {
  const [first, end] = [from, to].map(at => Math.round((at * 16_000) / hopSamples))
  const hops = crosstalk?.subarray(first, end) ?? new Uint8Array()
  return hops.reduce((count, each) => count + each, 0) / hops.length
}

for (const decibels of [10, 15, 20, 30, 40])
  test(`the voice of the other channel, ${decibels} dB quieter, is crosstalk`, async () => {
    const [left, right] = [join(one, silence), join(silence, other)]
    const found = await crosstalkOf(sum(left, right, decibels), sum(right, left, decibels))
    expect(found.map(each => each.length)).toEqual([63, 63])
    expect(found.map(each => [marked(each, 0, 1.9), marked(each, 2.1, 4)])).toEqual([
      [0, 1],
      [1, 0],
    ])
  })

for (const delay of [-0.05, -0.0001, 0.02, 0.05])
  test(`crosstalk may be ${delay} s later, and of opposite phase`, async () => {
    const samples = Math.round(delay * 16_000)
    const inverted = one.map(sample => -sample)
    for (const voice of [one, inverted]) {
      const [left, right] = await crosstalkOf(one, sum(silence, voice, 15, samples))
      expect([marked(left, 0, 2), marked(right, 0.1, 1.9)]).toEqual([0, 1])
    }
  })

test('crosstalk may have an echo of some milliseconds', async () => {
  let echo = silence
  for (const [at, delay] of [40, 52, 61, 75, 90].entries()) echo = sum(echo, one, 20 + 3 * at, delay)
  expect(marked((await crosstalkOf(one, echo))[1], 0.1, 1.9)).toBe(1)
})

test('people who speak at the same time are not crosstalk, even if both channels also have crosstalk', async () => {
  expect((await crosstalkOf(one, other)).map(each => marked(each, 0, 2))).toEqual([0, 0])
  const both = await crosstalkOf(sum(one, other, 15), sum(other, one, 15))
  expect(both.map(each => marked(each, 0, 2))).toEqual([0, 0])
})

test('a person who is 20 dB quieter than the other person is not crosstalk', async () => {
  const quiet = sum(silence, other, 20)
  expect((await crosstalkOf(one, quiet)).map(each => marked(each, 0, 2))).toEqual([0, 0])
  const withCrosstalk = await crosstalkOf(one, sum(quiet, one, 30))
  expect(withCrosstalk.map(each => marked(each, 0, 2))).toEqual([0, 0])
})

test('a quiet person beside a silent channel is not crosstalk', async () => {
  expect((await crosstalkOf(silence, sum(silence, other, 40))).map(each => marked(each, 0, 2))).toEqual([
    0, 0,
  ])
})

test('sound that two channels have nearly equally loud is not crosstalk', async () => {
  expect((await crosstalkOf(one, sum(silence, one, 3))).map(each => marked(each, 0, 2))).toEqual([0, 0])
})

test('of several channels, the one with the loudest voice keeps it', async () => {
  const found = await crosstalkOf(sum(silence, one, 20), sum(silence, one, 30), one, silence)
  expect(found.map(each => marked(each, 0.1, 1.9))).toEqual([1, 1, 0, 0])
})

test('a channel may end before the others', async () => {
  const found = await crosstalkOf(join(one, other), sum(silence, one, 20).subarray(0, 16_000))
  expect(found.map(each => each.length)).toEqual([63, 63])
  expect([marked(found[0], 0, 4), marked(found[1], 0.1, 0.9), marked(found[1], 1.1, 4)]).toEqual([0, 1, 0])
  expect((await crosstalkOf(new Float32Array(), new Float32Array())).map(each => each.length)).toEqual([0, 0])
})

test('if one channel cannot be read, the others are closed', async () => {
  let closed = false
  const endless = async function* () {
    try {
      for (;;) yield new Float32Array(1000)
    } finally {
      closed = true
    }
  }
  const broken = async function* (): AsyncGenerator<Float32Array> {
    yield new Float32Array(1000)
    throw new Error('broken')
  }
  await expect(findCrosstalk([endless(), broken()])).rejects.toThrow('broken')
  expect(closed).toBe(true)
})

test('crosstalk includes the less certain hops beside certain ones', () => {
  const shares = [0.2, 0.4, 0.6, 0.35, 0.29, 0.4, 0.9, 1, 0.4]
  expect([...crosstalkWith(shares)]).toEqual([0, 1, 1, 1, 0, 1, 1, 1, 1])
  expect([...crosstalkWith([0.4, 0.4, 0.1])]).toEqual([0, 0, 0])
})

test('a single hop is not crosstalk', () => {
  expect([...crosstalkWith([0, 0.9, 0, 0.6, 0.4, 0.1, 0.9])]).toEqual([0, 0, 0, 1, 1, 0, 0])
})

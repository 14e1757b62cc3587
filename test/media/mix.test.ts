// Tests that the two channels of a stereo file are mixed to one channel, and that one channel can be decoded alone.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode } from '../../src/media/decode.ts'
import { temporaryFolder } from '../support/folder.ts'
import { noise, tone } from '../support/sound.ts'
import { runCheck } from './checks.ts'
import { forever } from './files.ts'
import { floatWav } from './wav.ts'

/** Mixes two channels to one channel with the code of the media program. Returns the mixed samples. */
function mixed(left: Float32Array, right: Float32Array): number[] {
  const pairs = Float32Array.from([...left].flatMap((sample, at) => [sample, right[at] ?? 0]))
  const output = runCheck(['mix'], new Uint8Array(pairs.buffer))
  return [...new Float32Array(new Uint8Array(output).buffer)]
}

const speech = tone(2, 300, 0.5)
const silence = new Float32Array(speech.length)
const inverse = speech.map(sample => -sample)

const near = (found: number[], expected: Float32Array) =>
  found.length === expected.length
    ? Math.max(...found.map((sample, at) => Math.abs(sample - (expected[at] ?? 0))))
    : Infinity

test('equal channels have themselves as the mix', () => {
  expect(near(mixed(speech, speech), speech)).toBeLessThan(1e-6)
})

test('a silent channel halves the other one', () => {
  const half = speech.map(sample => sample / 2)
  expect(near(mixed(speech, silence), half)).toBeLessThan(1e-6)
})

test('of two channels with opposite phase, one is taken', () => {
  expect(near(mixed(speech, inverse), speech)).toBeLessThan(1e-6)
})

test('of two channels with opposite phase and different noise, one is taken', () => {
  const [one, other] = [noise(2, 0.02), noise(2, 0.02, 7)]
  const left = speech.map((sample, at) => sample + one[at]!)
  const right = inverse.map((sample, at) => sample + other[at]!)
  expect(near(mixed(left, right), left)).toBeLessThan(1e-6)
})

test('one channel of a file can be decoded alone', async () => {
  const path = join(temporaryFolder(), 'pair.wav')
  writeFileSync(path, floatWav([speech, silence]))
  expect(near(await channelOf(path, 1), speech)).toBe(0)
  expect(near(await channelOf(path, 2), silence)).toBe(0)
  // The file has only two channels. For a third channel, the decoder returns silence.
  expect(near(await channelOf(path, 3), silence)).toBe(0)
})

async function channelOf(path: string, channel: number): Promise<number[]> {
  const found: number[] = []
  for await (const part of decode(path, { signal: forever, durationMsMax: 60_000, channel }))
    found.push(...part)
  return found
}

test('two voices, one in each channel, are both in the mix', () => {
  const other = tone(2, 470, 0.4)
  const both = speech.map((sample, at) => (sample + other[at]!) / 2)
  expect(near(mixed(speech, other), both)).toBeLessThan(1e-6)
})

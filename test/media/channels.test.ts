// Tests that the mix of a file has the sound of all channels, whichever loudspeakers the file names for them. Only the
// low-frequency channel of surround sound is left out.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/folder.ts'
import { tone } from '../support/sound.ts'
import { pairCaf } from './caf.ts'
import { decodeAll, failureOf, patienceMs } from './files.ts'
import { level, sampleRate } from './tones.ts'
import { floatWav } from './wav.ts'

setDefaultTimeout(patienceMs)

const turnSeconds = 0.25
const turnSamples = turnSeconds * sampleRate
const voice = tone(turnSeconds, 400, 0.9)

/** Returns the sounds of `count` channels. One channel after the other has a tone. */
function turnsOf(count: number): Float32Array[] {
  return Array.from({ length: count }, (_, channel) => {
    const sound = new Float32Array(count * turnSamples)
    sound.set(voice, channel * turnSamples)
    return sound
  })
}

function written(file: Buffer): string {
  const path = join(temporaryFolder(), 'recording.wav')
  writeFileSync(path, file)
  return path
}

/** Returns the level of each channel's tone in the mix, relative to its level in the channel. */
async function levelsOf(file: Buffer): Promise<number[]> {
  const mix = await decodeAll(written(file))
  const turns = Array.from({ length: mix.length / turnSamples }, (_, turn) => turn * turnSamples)
  return turns.map(at => level(mix.subarray(at, at + turnSamples)) / level(voice))
}

const rounded = (levels: number[]) => levels.map(each => Number(each.toFixed(2)))
const equal = (channels: number) => rounded(new Array(channels).fill(1 / channels))

test.each([
  ['two at the sides', 2, 0x600],
  ['left and centre', 2, 0x5],
  ['centre and low frequencies', 2, 0xc],
  ['stereo and low frequencies', 3, 0xb],
  ['stereo and one side', 3, 0x203],
  ['stereo, centre and low frequencies', 4, 0xf],
  ['none in front', 4, 0x630],
  ['the first five of the list', 5, 0x1f],
  ['six, with one of the two in front', 6, 0x13e],
  ['the first seven of the list', 7, 0x7f],
  ['unknown', 5, 0],
])('channels have equal gains if their speakers are %s', async (_, channels, mask) => {
  expect(rounded(await levelsOf(floatWav(turnsOf(channels), mask)))).toEqual(equal(channels))
})

test('two channels with the same label have equal gains', async () => {
  const centre = 3
  const [first, second] = turnsOf(2)
  const pairs = Float32Array.from([...first!].flatMap((sample, at) => [sample, second![at]!]))
  expect(rounded(await levelsOf(pairCaf(pairs, [centre, centre])))).toEqual(equal(2))
})

test('surround sound is mixed without the channel of low frequencies', async () => {
  const [left = 0, right = 0, centre = 0, low, back = 0] = await levelsOf(floatWav(turnsOf(6), 0x3f))
  expect(low).toBeCloseTo(0, 2)
  expect(left).toBeCloseTo(right)
  expect(centre).toBeGreaterThan(left)
  expect(left).toBeGreaterThan(back)
})

test('a file with more channels than can be mixed is refused, and is not decoded to silence', async () => {
  const file = floatWav(new Array(65).fill(voice))
  expect(await failureOf(decodeAll(written(file)))).toMatchObject({ code: 'INVALID_MEDIA_FORMAT' })
})

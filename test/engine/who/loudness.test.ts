import { expect, test } from 'bun:test'
import { Loudness } from '../../../src/engine/who/loudness.ts'
import { noise } from '../../support/sound.ts'

const rate = 16_000
const turn = { from: rate / 2, to: 4 * rate, speaker: 3 }

/** Returns four seconds of sound: loud from 1 s to 2 s and from 2.5 s to 3.5 s, otherwise at the level `background`. */
function soundOver(background: number): Float32Array {
  const loud = noise(4, 0.3, 1)
  return loud.map((value, at) => {
    const second = at / rate
    return (second >= 1 && second < 2) || (second >= 2.5 && second < 3.5) ? value : (value * background) / 0.3
  })
}

function partsOf(sound: Float32Array, piece: number): number[][] {
  const loudness = new Loudness()
  for (let at = 0; at < sound.length; at += piece) loudness.add(sound.subarray(at, at + piece))
  return loudness.withoutPauses([turn]).map(({ from, to }) => [from / rate, to / rate])
}

/** Expects that the parts are the two loud parts of `soundOver`. */
function expectLoudParts(parts: number[][]): void {
  const wanted = [1, 2, 2.5, 3.5]
  expect(parts.length).toBe(2)
  for (const [index, edge] of parts.flat().entries())
    expect(Math.abs(edge - wanted[index]!)).toBeLessThan(0.04)
}

test('the silent ends of a turn and its pauses are removed, whatever the parts of the sound', () => {
  const parts = partsOf(soundOver(0), rate)
  expect(parts).toEqual(partsOf(soundOver(0), 1234))
  expectLoudParts(parts)
})

test('the hum of a power line does not hide the pauses of a turn', () => {
  const amplitude = 0.0077
  const humming = soundOver(0).map(
    (value, at) => value + amplitude * Math.sin((2 * Math.PI * 50 * at) / rate),
  )
  expectLoudParts(partsOf(humming, rate))
})

test('a turn over a loud background stays whole', () => {
  expect(partsOf(soundOver(0.03), rate)).toEqual([[0.5, 4]])
})

test('a turn over the faint background of a telephone line stays whole', () => {
  const decibels = -42
  expect(partsOf(soundOver(0.3 * 10 ** (decibels / 20)), rate)).toEqual([[0.5, 4]])
})

test('a pause of a fifth of a second stays in the turn', () => {
  const sound = noise(4, 0.3, 1).map((value, at) => (at >= 2 * rate && at < 2.2 * rate ? 0 : value))
  const loudness = new Loudness()
  loudness.add(new Float32Array(8 * rate))
  loudness.add(sound)
  const turns = loudness.withoutPauses([{ from: 8 * rate, to: 12 * rate, speaker: 0 }])
  expect(turns.length).toBe(1)
  expect(turns[0]?.to).toBe(12 * rate)
  expect((turns[0]?.from ?? 0) / rate).toBeCloseTo(8, 1)
})

test('the background of a turn at the start of a recording is measured around it, and not at the end', () => {
  const sound = new Float32Array(12 * rate)
  sound.set(soundOver(0))
  sound.set(noise(8, 0.3, 2), 4 * rate)
  expect(partsOf(sound, rate).length).toBe(2)
})

test('a turn whose only sound is very short stays as it is', () => {
  const loudness = new Loudness()
  // In the turn of the speaker (0.4 s to 0.6 s), only 0.03 s are not silent.
  const sound = new Float32Array(rate)
  sound.set(noise(0.03, 0.3, 1), rate / 2)
  loudness.add(sound)
  const short = { from: 0.4 * rate, to: 0.6 * rate, speaker: 0 }
  expect(loudness.withoutPauses([short])).toEqual([short])
})

// Tests the search for crosstalk (the voice of the other channel) with two readers from the data set LibriSpeech
// test-other. They speak one after the other, or at the same time.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { findCrosstalk, hopSamples } from '../../../src/engine/crosstalk/find-crosstalk.ts'
import { firstOf, unless } from '../../support/engine-room.ts'
import { readSound } from '../../support/read-sound.ts'
import { noise } from '../../support/sound.ts'

const folder = firstOf('../shared/audio/librispeech-test-other')
/**
 * A voice counts as audible in a hop (64 ms) if its root mean square is at least this value: 46 dB below full scale.
 */
const audible = 0.005

/** The readings of two people: three utterances each, all at the same level. */
const readings = folder ? await Promise.all([reading('1688', '142285'), reading('2033', '164914')]) : []

async function reading(reader: string, chapter: string): Promise<Float32Array[]> {
  return await Promise.all(
    [0, 1, 2].map(async number => {
      const sound = await readSound(join(folder ?? '', reader, `${reader}-${chapter}-000${number}.flac`))
      return scaled(sound, 0.07 / levelOf(sound))
    }),
  )
}

function scaled(sound: Float32Array, factor: number): Float32Array {
  const louder = new Float32Array(sound.length)
  for (let at = 0; at < sound.length; at++) louder[at] = sound[at]! * factor
  return louder
}

function levelOf(sound: Float32Array): number {
  let energy = 0
  for (let at = 0; at < sound.length; at++) energy += sound[at]! * sound[at]!
  return Math.sqrt(energy / sound.length)
}

/**
 * Puts the utterances of two people on two channels. Each person begins `pause` seconds after the other has ended. If
 * `pause` is negative, their utterances overlap.
 */
function conversation(people: readonly Float32Array[][], pause: number): Float32Array[] {
  const length = people.flat().reduce((sum, sound) => sum + sound.length, 10 * 16_000)
  const channels = people.map(() => new Float32Array(length))
  let at = 16_000
  for (const [turn] of people[0]!.entries())
    for (const [person, channel] of channels.entries()) {
      const sound = people[person]![turn]!
      channel.set(sound, at)
      at += sound.length + pause * 16_000
    }
  return channels
}

/** The noise in the two channels. It is longer than each conversation. */
const hisses = [1, 2].map(seed => noise(70, 0.0005, seed))

/** Adds noise and crosstalk to a channel. The crosstalk is the other channel, 10 ms later and `decibels` quieter. */
function withCrosstalk(own: Float32Array, other: Float32Array, decibels: number, hiss: Float32Array) {
  const sound = hiss.slice(0, own.length)
  const gain = 10 ** (-decibels / 20)
  const delay = 160
  for (let at = 0; at < delay; at++) sound[at]! += own[at]!
  for (let at = delay; at < own.length; at++) sound[at]! += own[at]! + gain * other[at - delay]!
  return sound
}

/**
 * Returns two shares of hops (64 ms) that are marked as crosstalk. The returned `own` is the share among the hops with
 * the channel's own voice. The returned `other` is the share among the hops with only the other channel's voice. The
 * parameters `own` and `other` are the two voices.
 */
function marked(
  crosstalk: Uint8Array,
  own: Float32Array,
  other: Float32Array,
): { own: number; other: number } {
  const isAudible = (voice: Float32Array, hop: number) =>
    levelOf(voice.subarray(hop * hopSamples, (hop + 1) * hopSamples)) >= audible
  const hops = [...crosstalk.keys()]
  const share = (some: readonly number[]) =>
    some.filter(hop => crosstalk[hop]).length / Math.max(1, some.length)
  return {
    own: share(hops.filter(hop => isAudible(own, hop))),
    other: share(hops.filter(hop => !isAudible(own, hop) && isAudible(other, hop))),
  }
}

/**
 * Finds the crosstalk in a conversation that is made from the recordings of two people. Returns the result of `marked`
 * for both channels: the shares of hops (64 ms) that are marked as crosstalk. The crosstalk of a voice is `decibels`
 * quieter than the voice. The second voice is `quieter` decibels quieter than the first voice.
 */
async function measured({
  pause,
  decibels,
  quieter = 0,
}: {
  pause: number
  decibels: number
  quieter?: number
}) {
  const [first, second] = readings
  const quiet = second!.map(sound => scaled(sound, 10 ** (-quieter / 20)))
  const voices = conversation([first!, quiet], pause)
  const [one, other] = [voices[0]!, voices[1]!]
  const channels = [
    withCrosstalk(one, other, decibels, hisses[0]!),
    withCrosstalk(other, one, decibels, hisses[1]!),
  ]
  const found = await findCrosstalk(channels.map(channel => inParts(channel)))
  return [marked(found[0]!, one, other), marked(found[1]!, other, one)]
}

async function* inParts(sound: Float32Array): AsyncGenerator<Float32Array> {
  for (let at = 0; at < sound.length; at += 16_000) yield sound.subarray(at, at + 16_000)
}

const skipped = unless(folder, 'LibriSpeech')

for (const [decibels, least] of [
  [15, 0.97],
  [20, 0.97],
  [30, 0.95],
  [40, 0.7],
] as const)
  test.skipIf(!folder)(
    `the voice of another reader, ${decibels} dB quieter, is crosstalk${skipped}`,
    async () => {
      for (const { own, other } of await measured({ pause: 0.5, decibels })) {
        expect(own).toBe(0)
        expect(other).toBeGreaterThan(least)
      }
    },
  )

for (const [decibels, most, name] of [
  [20, 0.02, 'with crosstalk of -20 dB'],
  [30, 0.01, 'with crosstalk of -30 dB'],
  [Number.POSITIVE_INFINITY, 0, 'without crosstalk'],
] as const)
  test.skipIf(!folder)(`two readers at the same time are kept, ${name}${skipped}`, async () => {
    for (const { own } of await measured({ pause: -2, decibels })) expect(own).toBeLessThanOrEqual(most)
  })

test.skipIf(!folder)(`a reader who is 20 dB quieter than the other one is kept${skipped}`, async () => {
  for (const { own } of await measured({ pause: 0.5, decibels: 30, quieter: 20 })) expect(own).toBe(0)
  for (const { own } of await measured({ pause: -2, decibels: Number.POSITIVE_INFINITY, quieter: 20 }))
    expect(own).toBe(0)
})

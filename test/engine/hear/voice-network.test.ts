import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import {
  framesPerEmbedding,
  framesPerSecond,
  sampleRate,
  samplesPerFrame,
} from '../../../src/engine/audio.ts'
import { type Features, openFeatures } from '../../../src/engine/hear/features.ts'
import type { VoiceReading } from '../../../src/engine/hear/voice-network.ts'
import type { Whisper } from '../../../src/engine/hear/whisper.ts'
import { dot, unit } from '../../../src/engine/who/unit.ts'
import { clips, firstOf, runtime, unless } from '../../support/engine-room.ts'
import { openedWhisper } from '../../support/opened-models.ts'
import { seeded } from '../../support/random.ts'
import { readSound } from '../../support/read-sound.ts'

const folder = firstOf('models/whisper-base/compact.safetensors') && firstOf('models/whisper-base')
const missing = !folder || !clips
const skipped = unless(folder && clips, 'built-in Whisper base with clips')
let whisper: Whisper
let features: Features

beforeAll(async () => {
  if (missing) return
  whisper = await openedWhisper(folder!, 'compact')
  features = openFeatures(runtime(), whisper.facts.mels)
})

afterAll(() => {
  features?.close()
})

/**
 * Returns the share of the 10 ms steps between `from` and `to` (seconds) in which `count` is the most probable number
 * of voices: 0, 1, or 2 and more.
 */
function shareWith(count: number, voices: Float32Array, from: number, to: number): number {
  const rows = Array.from(
    { length: Math.round(100 * (to - from)) },
    (_, index) => Math.round(100 * from) + 1 + index,
  )
  const found = rows.filter(row => {
    const [none = 0, one = 0, two = 0] = voices.subarray(3 * row, 3 * row + 3)
    return [none, one, two][count] === Math.max(none, one, two)
  })
  return found.length / rows.length
}

const readingsOf = new Map<number, Promise<VoiceReading>>()

/**
 * Returns the voice reading (the results of the voice network) of `conversation(noise)`. Each conversation is read only
 * once.
 */
function readingWith(noise: number): Promise<VoiceReading> {
  const reading = readingsOf.get(noise) ?? conversation(noise).then(readVoices)
  readingsOf.set(noise, reading)
  return reading
}

function readVoices(sound: Float32Array): VoiceReading {
  const readings: VoiceReading[] = []
  const frames = Math.ceil(sound.length / samplesPerFrame)
  const encoded = whisper.encoder.encode({
    picture: features.logMel(sound),
    soundFrames: frames,
    onVoiceReading: reading => void readings.push(reading),
  })
  encoded.close()
  return readings[0]!
}

/** The length of a conversation. */
const seconds = 12

/**
 * Returns 12 s of sound. One voice speaks from 0.3 s to 6.2 s, and another one from 4.3 s to 9.7 s. `noise` is the
 * difference between the highest and the lowest value of the noise.
 */
async function conversation(noise: number): Promise<Float32Array> {
  const [first, second] = await Promise.all(
    ['en-rms.flac', 'en-awb.flac'].map(name => readSound(join(clips!, name))),
  )
  const random = seeded(5)
  const sound = new Float32Array(seconds * sampleRate)
  sound.set(first!.subarray(0, 6.5 * sampleRate))
  const begin = 4 * sampleRate
  for (const [at, sample] of second!.subarray(0, 6 * sampleRate).entries()) sound[begin + at]! += sample
  return sound.map(sample => sample + noise * (random.next() - 0.5))
}

for (const [kind, noise] of [
  ['quiet', 0],
  ['noisy', 0.02],
] as const) {
  test.skipIf(missing)(
    `the built-in network finds no voice, one voice and two voices in ${kind} sound${skipped}`,
    async () => {
      const { counts: voices } = await readingWith(noise)
      expect(voices.length).toBe(3 * 2 * seconds * framesPerSecond)
      expect(shareWith(0, voices, 10.2, 11.8)).toBeGreaterThan(0.9)
      expect(shareWith(1, voices, 0.6, 2.7)).toBeGreaterThan(0.9)
      expect(shareWith(1, voices, 7, 9.5)).toBeGreaterThan(0.9)
      expect(shareWith(2, voices, 4.5, 5.9)).toBeGreaterThan(0.8)
    },
  )
}

/** Returns the mean of the frame embeddings (voice vectors) between `from` and `to` (seconds), scaled to length 1. */
function voiceIn({ embeddings, width }: VoiceReading, from: number, to: number): Float32Array {
  const sum = new Float32Array(width)
  const perSecond = framesPerSecond / framesPerEmbedding
  for (let row = Math.round(from * perSecond); row < to * perSecond; row++)
    for (let at = 0; at < width; at++) sum[at]! += embeddings[row * width + at]!
  return unit(sum)
}

test.skipIf(missing)(
  `the frame embeddings of one voice are more similar than those of two voices${skipped}`,
  async () => {
    const reading = await readingWith(0)
    expect(reading.embeddings.length).toBe((reading.width * seconds * framesPerSecond) / framesPerEmbedding)
    const [before, between, after] = [
      voiceIn(reading, 0.6, 2.7),
      voiceIn(reading, 3.3, 4.2),
      voiceIn(reading, 7, 9.5),
    ]
    expect(dot(before, between)).toBeGreaterThan(0.6)
    expect(dot(before, between)).toBeGreaterThan(dot(before, after) + 0.25)
  },
)

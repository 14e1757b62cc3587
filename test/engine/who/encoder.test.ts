import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openEncoder } from '../../../src/engine/who/encoder.ts'
import { dot } from '../../../src/engine/who/unit.ts'
import { decode } from '../../../src/media/decode.ts'
import { clips, firstOf, runtime, unless } from '../../support/engine-room.ts'
import { noise } from '../../support/sound.ts'

const folder = firstOf('models/voice-encoder')
const missing = !folder || !clips
const skipped = unless(folder && clips, 'voice encoder with the clips')
const encoder = () => openEncoder(runtime(), folder ?? '', 'cpu')

async function samplesOf(name: string): Promise<Float32Array> {
  const parts: number[] = []
  const options = { signal: new AbortController().signal, durationMsMax: 60_000 }
  for await (const part of decode(join(clips ?? '', name), options))
    for (const value of part) parts.push(value)
  return Float32Array.from(parts)
}

test.skipIf(missing)(`the embedding of a clip is that of Resemblyzer${skipped}`, async () => {
  const { clip, embedding } = await Bun.file('test/fixtures/voice-encoder.json').json()
  const { features, embed } = encoder()
  const found = embed(features(await samplesOf(clip))) ?? new Float32Array(256)
  expect(dot(found, Float32Array.from(embedding))).toBeGreaterThan(0.9999)
})

test.skipIf(missing)(`a quiet clip has the embedding of a loud one${skipped}`, async () => {
  const { features, embed } = encoder()
  const quiet = (await samplesOf('en-short.flac')).map(value => value / 100)
  const quieter = quiet.map(value => value / 10)
  const [one, other] = [quiet, quieter].map(sound => embed(features(sound)) ?? new Float32Array(256))
  expect(dot(one!, other!)).toBeGreaterThan(0.9999)
})

test.skipIf(missing)(`a voice of less than a quarter of a second has no embedding${skipped}`, () => {
  const { width, embed } = encoder()
  expect(embed(new Float32Array(24 * width))).toBeNull()
  expect(embed(new Float32Array(25 * width).fill(0.1))?.length).toBe(256)
})

test.skipIf(missing)(`every embedding is finite, of silence too${skipped}`, () => {
  const { features, embed } = encoder()
  for (const sound of [new Float32Array(32_000), noise(2, 0.5, 1)])
    expect(embed(features(sound))?.every(Number.isFinite) ?? true).toBe(true)
})

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openEncoder } from '../../../src/engine/who/encoder.ts'
import { dot } from '../../../src/engine/who/unit.ts'
import { clips, firstOf, runtime, unless } from '../../support/engine-room.ts'
import { readSound } from '../../support/read-sound.ts'
import { noise } from '../../support/sound.ts'

const folder = firstOf('models/voice-encoder')
const missing = !folder || !clips
const skipped = unless(folder && clips, 'voice encoder with the clips')
const open = (keepsNoise: boolean) => openEncoder(runtime(), folder ?? '', 'cpu', { keepsNoise })
let opened: ReturnType<typeof open> | null = null
/** Returns the encoder. Only the first call opens it. */
const encoder = () => (opened ??= open(true))
const none = new Float32Array(256)

test.skipIf(missing)(`the embedding of a clip is that of Resemblyzer${skipped}`, async () => {
  const { clip, embedding } = await Bun.file('test/fixtures/voice-encoder.json').json()
  const { features, embed } = encoder()
  const [found] = embed([features(await readSound(join(clips!, clip)))])
  expect(dot(found ?? none, Float32Array.from(embedding))).toBeGreaterThan(0.9999)
})

test.skipIf(missing)(`a quiet clip has the embedding of a loud one${skipped}`, async () => {
  const { features, embed } = encoder()
  const quiet = (await readSound(join(clips!, 'en-short.flac'))).map(value => value / 100)
  const quieter = quiet.map(value => value / 10)
  const [one, other] = embed([features(quiet), features(quieter)])
  expect(dot(one ?? none, other ?? none)).toBeGreaterThan(0.9999)
})

test.skipIf(missing)(`a voice of less than a quarter of a second has no embedding${skipped}`, () => {
  const { width, embed } = encoder()
  const [short, long] = embed([new Float32Array(24 * width), new Float32Array(25 * width).fill(0.1)])
  expect(short).toBeNull()
  expect(long?.length).toBe(256)
})

test.skipIf(missing)(`every embedding is finite, of silence too${skipped}`, () => {
  const { features, embed } = encoder()
  for (const sound of [new Float32Array(32_000), noise(2, 0.5, 1)])
    expect(embed([features(sound)])[0]?.every(Number.isFinite) ?? true).toBe(true)
})

test.skipIf(missing)(`steady noise moves an embedding less when it is subtracted${skipped}`, async () => {
  const clean = await readSound(join(clips!, 'doctor.flac'))
  const hiss = noise(clean.length / 16_000, 0.01, 5)
  const noisy = clean.map((value, at) => value + (hiss[at] ?? 0))
  const likeness = [encoder(), open(false)].map(({ features, withoutNoise, embed }) => {
    const [one, other] = embed([clean, noisy].map(sound => withoutNoise(features(sound))))
    return dot(one ?? none, other ?? none)
  })
  expect(likeness[1]).toBeGreaterThan(likeness[0]!)
})

test.skipIf(missing)(`an embedding does not depend on the parts in its batch${skipped}`, async () => {
  const { features, embed } = encoder()
  const parts = [
    await readSound(join(clips!, 'en-short.flac')),
    await readSound(join(clips!, 'doctor.flac')),
    noise(9, 0.1, 2),
  ].map(features)
  const alone = parts.flatMap(part => embed([part]))
  for (const [index, vector] of embed(parts).entries())
    expect(dot(vector ?? none, alone[index] ?? none)).toBeGreaterThan(0.99999)
})

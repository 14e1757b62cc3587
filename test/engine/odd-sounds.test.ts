// Transcribes recordings of one known sentence in rare or faulty formats. Each word of the sentence must be found. In
// recordings without speech, no word may be found.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type LoadedEngine, openModel } from '../../src/engine/load.ts'
import { builtInClip } from '../../src/engine/onnx/library.ts'
import { transcribe } from '../../src/engine/transcribe.ts'
import { decode } from '../../src/media/decode.ts'
import { compactPocket } from '../support/compact-pocket.ts'
import { pocket, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { readSound } from '../support/read-sound.ts'
import { wavHeader } from '../support/sound.ts'
import { plainWords } from '../support/words.ts'

const clip = builtInClip()
const ready = pocket && clip ? 'here' : null
const sampleRate = 16_000
const folder = temporaryFolder()
let engine: LoadedEngine
let speech: Float32Array
let sentence: string[]

beforeAll(async () => {
  if (!pocket || !clip) return
  const alone = { others: [], detector: null, voices: { problem: 'none' }, threads: 2 }
  engine = await openModel({ ...alone, name: 'pocket', folder: await compactPocket(pocket), device: 'cpu' })
  speech = await readSound(clip.sound)
  sentence = plainWords(((await Bun.file(clip.truth).json()) as { text: string }).text)
})

afterAll(() => {
  for (const model of engine?.models.speech ?? []) model.close()
})

const read = (path: string) => decode(path, { signal: new AbortController().signal, durationMsMax: 60_000 })

async function wordsIn(path: string): Promise<string[]> {
  const asked = { path, durationMs: 0, language: null, diarize: false, speakerCount: null, align: true }
  const input = { ...asked, prompt: null, vocabulary: [] }
  const listener = { onSamples: async () => {}, onWarning: () => {} }
  return plainWords((await transcribe(engine.models, read(path), input, listener)).full_transcript)
}

/** Writes a WAV file of 32-bit floats. `make` returns the sample of one channel in one frame. */
async function floatWav(
  name: string,
  format: { rate: number; channels: number; frames: number },
  make: (frame: number, channel: number) => number,
): Promise<string> {
  const { rate, channels, frames } = format
  const samples = new Float32Array(frames * channels)
  for (let at = 0; at < samples.length; at++) samples[at] = make(Math.floor(at / channels), at % channels)
  const header = wavHeader(samples.byteLength, { sampleRate: rate, channels, bytesPerSample: 4 })
  const floats = 3
  new DataView(header.buffer).setUint16(20, floats, true)
  const path = join(folder, `${name}.wav`)
  await Bun.write(path, new Blob([header, samples]))
  return path
}

const half = 0.5

type Odd = { name: string; write: (name: string) => Promise<string> }

const odd: Odd[] = [
  {
    name: 'a sample rate of 192 kHz',
    write: name => {
      const times = 12
      const format = { rate: times * sampleRate, channels: 1, frames: times * speech.length }
      return floatWav(name, format, frame => {
        const [at, part] = [Math.floor(frame / times), (frame % times) / times]
        return (1 - part) * (speech[at] ?? 0) + part * (speech[at + 1] ?? 0)
      })
    },
  },
  {
    name: 'twelve channels',
    write: name =>
      floatWav(name, { rate: sampleRate, channels: 12, frames: speech.length }, frame => speech[frame] ?? 0),
  },
  {
    name: 'a constant offset',
    write: name =>
      floatWav(
        name,
        { rate: sampleRate, channels: 1, frames: speech.length },
        frame => half + half * (speech[frame] ?? 0),
      ),
  },
  {
    name: 'samples that are NaN or infinite before and after the speech',
    write: name => {
      const wrong = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e30]
      const frames = speech.length + 2 * sampleRate
      return floatWav(name, { rate: sampleRate, channels: 1, frames }, frame => {
        const sample = speech[frame - sampleRate]
        return sample ?? wrong[frame % wrong.length] ?? 0
      })
    },
  },
]

test.skipIf(!ready).each(odd)(
  `a recording with $name gives every word${unless(ready, 'pocket model and clip')}`,
  async ({ name, write }) => {
    expect(await wordsIn(await write(name))).toEqual(sentence)
  },
)

const wordless: [string, number, (frame: number) => number][] = [
  ['one sample', 1, () => half],
  ['a constant value', 5 * sampleRate, () => half],
  ['NaN alone', 5 * sampleRate, () => Number.NaN],
  ['infinite samples alone', 5 * sampleRate, frame => (frame % 2 === 0 ? 1 : -1) * Number.POSITIVE_INFINITY],
]
test.skipIf(!ready).each(wordless)(
  `a recording with %s has no words, and no error${unless(ready, 'pocket model and clip')}`,
  async (name, frames, make) => {
    const path = await floatWav(name, { rate: sampleRate, channels: 1, frames }, make)
    expect(await wordsIn(path)).toEqual([])
  },
)

// Compares two ways to run a model with the same weights: both should decode the same tokens. One way is the ONNX
// graphs in the folder of the model, which run on the CPU. The other way is the graphs that steno makes for GPUs. They
// run on a GPU or, for a test without a GPU, on the CPU.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DeviceOptions, openFloats } from '../../../src/engine/hear/device.ts'
import { type Features, openFeatures } from '../../../src/engine/hear/features.ts'
import type { Hypothesis } from '../../../src/engine/hear/hypothesis.ts'
import { JointDecoding } from '../../../src/engine/hear/joint-decoding.ts'
import { recognise } from '../../../src/engine/hear/recognise.ts'
import { openWhisper, type Whisper } from '../../../src/engine/hear/whisper.ts'
import { openWeights } from '../../../src/engine/network/source.ts'
import type { Runtime } from '../../../src/engine/onnx/runtime.ts'
import { readSound } from '../../../test/support/read-sound.ts'
import { realSpeech } from './real-speech.ts'

/** The number of utterances that are decoded together. */
const batch = 5

export async function sameTexts(
  runtime: Runtime,
  folder: string,
  options: DeviceOptions = { device: 'cpu', type: 'float32' },
): Promise<{ equal: number; all: number }> {
  const sounds = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  const published = await openWhisper(runtime, folder, { device: 'cpu', variant: '' })
  const floats = openFloats(runtime, openWeights(folder), published.facts, options)
  const features = openFeatures(runtime, published.facts.mels)
  try {
    const sets = (await realSpeech(sounds)) ?? []
    const paths = (sets.find(set => set.sounds.length > 1)?.sounds ?? []).map(({ path }) => path)
    let equal = 0
    for (let from = 0; from < paths.length; from += batch) {
      const samples = await Promise.all(paths.slice(from, from + batch).map(readStart))
      const expected = await hear(published, features, samples)
      const found = await hear({ ...published, ...floats }, features, samples)
      equal += found.filter(({ tokens }, row) => `${tokens}` === `${expected[row]?.tokens}`).length
    }
    return { equal, all: paths.length }
  } finally {
    floats.close()
    published.close()
    features.close()
    rmSync(sounds, { recursive: true })
  }
}

/** Returns the first 30 s of a sound. */
async function readStart(path: string): Promise<Float32Array> {
  return (await readSound(path)).subarray(0, 30 * 16_000)
}

async function hear(
  whisper: Whisper,
  features: Features,
  sounds: readonly Float32Array[],
): Promise<Hypothesis[]> {
  const { facts, encoder, decoder, attendingDecoder } = whisper
  const windows = sounds.map(sound => encoder.encode({ picture: features.logMel(sound) }))
  const rows = sounds.map(({ length }) => ({ frames: Math.ceil(length / 320), speechSeconds: 0 }))
  const language = facts.languages.get('en')
  const prompt = [facts.start, language, facts.transcribe].filter(id => typeof id === 'number')
  const heard = await recognise(windows, rows, {
    whisper,
    decoder: attendingDecoder ?? decoder,
    prompt,
    promptAgain: prompt,
    timestamps: true,
    attention: attendingDecoder !== null,
    joint: new JointDecoding(8),
    onShare: async () => {},
  })
  for (const window of windows) window.close()
  return heard
}

// Compares the engine with transformers.js, an independent implementation of Whisper. The same weights must give nearly
// the same log-mel spectrograms and exactly the same tokens.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openFeatures } from '../../src/engine/hear/features.ts'
import { JointDecoding } from '../../src/engine/hear/joint-decoding.ts'
import type { EncodedWindow } from '../../src/engine/hear/network.ts'
import { recognise } from '../../src/engine/hear/recognise.ts'
import { decode } from '../../src/media/decode.ts'
import { clips, pocket, runtime, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openedWhisper } from '../support/opened-models.ts'
import type { TransformersAnswer, TransformersOrder } from '../support/transformers-child.ts'

const language = 'en'
const names = ['en-one-word', 'en-f2']
const skipped = unless(pocket && clips, 'pocket model with its clips')

test.skipIf(!pocket || !clips)(
  `log-mel spectrograms differ from those of transformers.js by less than 1e-4, and the tokens are equal${skipped}`,
  async () => {
    const folder = temporaryFolder()
    const sounds = names.map(name => join(folder, `${name}.f32`))
    for (const sound of sounds) await writeSamples(sound)
    const { ids } = await askTransformers({ folder: pocket ?? '', language, sounds })
    const ours = await hear(sounds)
    for (const [index, name] of names.entries()) {
      const theirs = new Float32Array(await Bun.file(`${sounds[index]}.mel`).arrayBuffer())
      expect([name, largestDifference(ours[index]?.mel, theirs) < 1e-4]).toEqual([name, true])
      expect([name, ours[index]?.ids]).toEqual([name, ids[index]])
    }
  },
  60_000,
)

async function writeSamples(sound: string): Promise<void> {
  const clip = join(clips ?? '', sound.replace(/^.*\/|\.f32$/g, '').concat('.flac'))
  const writer = Bun.file(sound).writer()
  const options = { signal: new AbortController().signal, durationMsMax: 60_000 }
  for await (const samples of decode(clip, options)) writer.write(samples)
  await writer.end()
}

async function askTransformers(order: TransformersOrder): Promise<TransformersAnswer> {
  const script = join(import.meta.dir, '../support/transformers-child.ts')
  const child = Bun.spawn([process.execPath, script, JSON.stringify(order)], { stderr: 'inherit' })
  const printed = await new Response(child.stdout).text()
  expect(await child.exited).toBe(0)
  return JSON.parse(printed)
}

/**
 * Returns the log-mel spectrogram and the token ids of each file. The ids include the prompt and the end-of-text token.
 */
async function hear(sounds: readonly string[]): Promise<{ mel: Float32Array; ids: number[] }[]> {
  const whisper = await openedWhisper(pocket ?? '', '')
  const { facts } = whisper
  const prompt = [facts.start, facts.languages.get(language) ?? -1, facts.transcribe ?? -1]
  const features = openFeatures(runtime(), facts.mels)
  const windows: EncodedWindow[] = []
  const pictures: Float32Array[] = []
  const rows: { frames: number; speechSeconds: number }[] = []
  for (const sound of sounds) {
    const samples = new Float32Array(await Bun.file(sound).arrayBuffer())
    const mel = features.logMel(samples).slice()
    windows.push(whisper.encoder.encode({ picture: mel }))
    pictures.push(mel)
    rows.push({ frames: Math.ceil(samples.length / 320), speechSeconds: samples.length / 16_000 })
  }
  const spoken = await recognise(windows, rows, {
    whisper,
    decoder: whisper.decoder,
    prompt,
    promptAgain: [],
    timestamps: true,
    attention: false,
    joint: new JointDecoding(8),
    onShare: async () => {},
  })
  for (const window of windows) window.close()
  features.close()
  return pictures.map((mel, row) => ({ mel, ids: [...prompt, ...(spoken[row]?.tokens ?? []), facts.end] }))
}

function largestDifference(one: Float32Array | undefined, other: Float32Array): number {
  if (one?.length !== other.length) return Number.POSITIVE_INFINITY
  return one.reduce((most, value, at) => Math.max(most, Math.abs(value - (other[at] ?? 0))), 0)
}

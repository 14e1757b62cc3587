// Compares the engine with transformers.js, an independent implementation of Whisper. The same weights must give nearly
// the same log-mel spectrograms and exactly the same tokens.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { joinFloats } from '../../src/base/join-floats.ts'
import { openFeatures } from '../../src/engine/hear/features.ts'
import { JointDecoding } from '../../src/engine/hear/joint-decoding.ts'
import { recognise } from '../../src/engine/hear/recognise.ts'
import { clips, pocket, runtime, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openedWhisper } from '../support/opened-models.ts'
import { readSound } from '../support/read-sound.ts'
import type { TransformersAnswer, TransformersOrder } from '../support/transformers-child.ts'

const language = 'en'
const skipped = unless(pocket && clips, 'pocket model with its clips')

test.skipIf(!pocket || !clips)(
  `the log-mel spectrogram differs from that of transformers.js by less than 1e-4, and the tokens are equal${skipped}`,
  async () => {
    const sound = join(temporaryFolder(), 'sound.f32')
    const samples = joinFloats(
      await Promise.all(['en-one-word', 'en-f2'].map(name => readSound(join(clips ?? '', `${name}.flac`)))),
    )
    await Bun.write(sound, samples)
    const theirs = await askTransformers({ folder: pocket ?? '', language, sound })
    const ours = await hear(samples)
    const mel = new Float32Array(await Bun.file(`${sound}.mel`).arrayBuffer())
    expect(largestDifference(ours.mel, mel)).toBeLessThan(1e-4)
    expect(ours.ids).toEqual(theirs.ids)
    expect(ours.text).toMatch(/^ Hello.* Thomas /)
  },
  60_000,
)

async function askTransformers(order: TransformersOrder): Promise<TransformersAnswer> {
  const script = join(import.meta.dir, '../support/transformers-child.ts')
  const child = Bun.spawn([process.execPath, script, JSON.stringify(order)], { stderr: 'inherit' })
  const printed = await new Response(child.stdout).text()
  expect(await child.exited).toBe(0)
  return JSON.parse(printed)
}

/**
 * Returns the log-mel spectrogram of a sound, the text that Whisper recognises, and its token ids. The ids include the
 * prompt and the end-of-text token.
 */
async function hear(samples: Float32Array): Promise<{ mel: Float32Array; text: string; ids: number[] }> {
  const whisper = await openedWhisper(pocket ?? '', '')
  const { facts, tokenizer } = whisper
  const prompt = [facts.start, facts.languages.get(language) ?? -1, facts.transcribe ?? -1]
  const features = openFeatures(runtime(), facts.mels)
  const mel = features.logMel(samples).slice()
  features.close()
  const window = whisper.encoder.encode({ picture: mel })
  const row = { frames: Math.ceil(samples.length / 320), speechSeconds: samples.length / 16_000 }
  const [spoken] = await recognise([window], [row], {
    whisper,
    decoder: whisper.decoder,
    prompt,
    promptAgain: [],
    timestamps: true,
    attention: false,
    joint: new JointDecoding(8),
    onShare: async () => {},
  })
  window.close()
  const tokens = spoken?.tokens ?? []
  return { mel, text: tokenizer.decode(tokens), ids: [...prompt, ...tokens, facts.end] }
}

function largestDifference(one: Float32Array, other: Float32Array): number {
  if (one.length !== other.length) return Number.POSITIVE_INFINITY
  return one.reduce((most, value, at) => Math.max(most, Math.abs(value - (other[at] ?? 0))), 0)
}

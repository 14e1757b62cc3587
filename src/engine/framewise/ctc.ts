// The CTC speech model: opens it and decodes its output. The model files have the layout of sherpa-onnx's export of
// Omnilingual ASR. The input of the model is raw samples. Its output is the scores of all tokens for each frame of 20
// ms.
//
// The model reads one window at a time. In a batch, shorter windows would be padded to the length of the longest one.
// The model has no input for the length of the unpadded sound, so the padding would change the result.

import { join } from 'node:path'
import { sampleRate } from '../audio.ts'
import { placeWords } from '../hear/place.ts'
import { contextLeftOut } from '../hear/prompt.ts'
import type { SpeechModel } from '../hear/speech-model.ts'
import { soundOf } from '../hear/windows.ts'
import { findGraphs, tokensFile } from '../models/framewise-layout.ts'
import { openQuantised } from '../onnx/quantised.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, tensor } from '../onnx/session.ts'
import { languagesByKind } from './languages.ts'
import { bestOf, decodeInScript, type Permitted, probabilityOf } from './script.ts'
import { findBlank, isControl, parseTokens, type Tokens } from './tokens.ts'
import { type TimedToken, wordsOf } from './words.ts'

/**
 * The output of the model for one window: a score of each token of the vocabulary for each frame. `frames` is the
 * number of frames. `count` is the number of tokens in the vocabulary. `values` has frames × count scores.
 */
export type Scores = { values: Float32Array; frames: number; count: number }

export async function openCtc(
  runtime: Runtime,
  { name, folder }: { name: string; folder: string },
  device: Device,
): Promise<SpeechModel> {
  const path = join(folder, tokensFile.ctc)
  const tokens = parseTokens(await Bun.file(path).text(), path)
  const blank = findBlank(tokens)
  if (blank !== 0)
    throw new Error(
      `${path} has its blank token at ${blank}: only CTC models with the blank at 0 are supported`,
    )
  const network = openNetwork(runtime, folder, device)
  const count = network.scores(new Float32Array(sampleRate), scores => scores.count)
  if (count !== tokens.length)
    throw new Error(
      `${path} has ${tokens.length} tokens, and ${network.path} has scores for ${count}: they are of different models`,
    )
  return {
    name,
    languages: languagesByKind.ctc,
    translates: false,
    start: ({ prompt, vocabulary }) => ({
      rows: 1,
      warning: prompt === null && vocabulary.length === 0 ? null : contextLeftOut,
      async hear(windows, { recording, language, listener }) {
        const texts = []
        for (const window of windows) {
          const decoded = network.scores(soundOf(window, recording), scores =>
            decodeInScript(tokens, language, permitted => decodeCtc(scores, tokens, permitted)),
          )
          texts.push(...placeWords(window, wordsOf(decoded, language ?? 'en')))
          await listener.onSamples(window.to)
        }
        return { language: language ?? 'en', texts }
      },
    }),
    detect: null,
    close: () => network.close(),
  }
}

function openNetwork(runtime: Runtime, folder: string, device: Device) {
  const [path = ''] = findGraphs(folder, 'ctc', device !== 'cpu') ?? []
  const session = openQuantised(runtime, path, device)
  const [input, output] = [session.inputs[0], session.outputs[0]]
  if (session.inputs.length !== 1 || input?.dims.length !== 2 || output?.dims.length !== 3)
    throw new Error(`${path} is not a CTC model that reads samples: it has other inputs or outputs`)
  const run = session.run([input.name], [output.name])
  return {
    path,
    /**
     * Computes the scores of a window and passes them to `use`. The memory of the scores is freed when `use` returns.
     */
    scores<Result>(sound: Float32Array, use: (scores: Scores) => Result): Result {
      const samples = tensor(runtime, 'float32', normalised(sound), [1, sound.length])
      const [result] = run([samples])
      const [, frames = 0, count = 0] = result.dims
      try {
        return use({ values: result.floats(frames * count), frames, count })
      } finally {
        result.free()
        samples.free()
      }
    },
    close: () => session.close(),
  }
}

/** Shifts and scales the samples to a mean of 0 and a variance of 1. The model was trained with such samples. */
function normalised(sound: Float32Array): Float32Array {
  let mean = 0
  for (const sample of sound) mean += sample / sound.length
  let variance = 0
  for (const sample of sound) variance += (sample - mean) ** 2 / sound.length
  const scale = 1 / Math.sqrt(variance + 1e-5)
  return sound.map(sample => (sample - mean) * scale)
}

/**
 * Decodes the scores of a window by greedy CTC decoding: takes the best token of each frame, joins equal tokens of
 * adjacent frames into one token, and removes blank tokens. The joined token lasts from the first to the last of these
 * frames.
 */
export function decodeCtc(
  { values, frames, count }: Scores,
  tokens: Tokens,
  permitted: Permitted,
): TimedToken[] {
  const decoded: TimedToken[] = []
  let before = 0
  for (let frame = 0; frame < frames; frame++) {
    const from = frame * count
    const number = bestOf(values, from, count, permitted)
    const last = decoded.at(-1)
    if (number === before && last) {
      if (last.to === frame) last.to = frame + 1
    } else if (number !== 0 && !isControl(tokens[number] ?? '')) {
      const probability = probabilityOf(values, from, count, number)
      decoded.push({ text: tokens[number] ?? '', from: frame, to: frame + 1, probability })
    }
    before = number
  }
  return decoded
}

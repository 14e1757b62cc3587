// The CTC speech model. Its files have the layout of sherpa-onnx's export of Omnilingual ASR.
//
// The model reads one window at a time. A batch would pad the shorter windows. The padding would change the result,
// because the model has no input for the true length.

import { join } from 'node:path'
import { sampleRate } from '../audio.ts'
import { warnOfMissed } from '../hear/missed.ts'
import { placeWords } from '../hear/place.ts'
import { contextLeftOut } from '../hear/prompt.ts'
import type { SpeechModel } from '../hear/speech-model.ts'
import { soundOf } from '../hear/windows.ts'
import { tokensFile } from '../models/framewise-layout.ts'
import type { Runtime } from '../onnx/runtime.ts'
import type { Device } from '../onnx/session.ts'
import { decodeCtc } from './ctc-greedy.ts'
import { openNetwork } from './ctc-network.ts'
import { languagesByKind } from './languages.ts'
import { decodeInScript } from './script.ts'
import { findBlank, parseTokens } from './tokens.ts'
import { wordsOf } from './words.ts'

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
  using opened = new DisposableStack()
  const network = opened.adopt(openNetwork(runtime, folder, device), each => each.close())
  const count = network.scores(new Float32Array(sampleRate), scores => scores.count)
  if (count !== tokens.length)
    throw new Error(
      `${path} has ${tokens.length} tokens, and ${network.path} has scores for ${count}: they are of different models`,
    )
  const kept = opened.move()
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
          const placed = placeWords(window, wordsOf(decoded, language ?? 'en'))
          warnOfMissed(window, placed, listener)
          texts.push(...placed)
          await listener.onSamples(window.to)
        }
        return { language: language ?? 'en', texts }
      },
    }),
    detect: null,
    close: () => kept.dispose(),
  }
}

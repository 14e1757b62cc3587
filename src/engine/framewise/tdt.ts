// The TDT speech model, a token-and-duration transducer such as Parakeet v3. Its files have the layout of onnx-asr. The
// encoder reads one window at a time. One run of the decoder predicts the next tokens of several windows.

import { join } from 'node:path'
import { warnOfMissed } from '../hear/missed.ts'
import { placeWords } from '../hear/place.ts'
import { contextLeftOut } from '../hear/prompt.ts'
import type { SpeechModel } from '../hear/speech-model.ts'
import { soundOf } from '../hear/windows.ts'
import { findGraphs, tdtFeaturesFile, tokensFile } from '../models/framewise-layout.ts'
import type { Runtime } from '../onnx/runtime.ts'
import type { Device } from '../onnx/session.ts'
import { languagesByKind } from './languages.ts'
import type { Permitted } from './scores.ts'
import { isForeign, permittedFor, textOf, withLetters } from './script.ts'
import { openDecoder } from './tdt-decoder.ts'
import { type EncodedFrames, openEncoder } from './tdt-encoder.ts'
import { decodeTdt } from './tdt-greedy.ts'
import { findBlank, parseTokens, type Tokens } from './tokens.ts'
import { type TimedToken, wordsOf } from './words.ts'

const rows = 16
const tokensPerFrameDefault = 10

export async function openTdt(
  runtime: Runtime,
  { name, folder }: { name: string; folder: string },
  device: Device,
): Promise<SpeechModel> {
  const path = join(folder, tokensFile.tdt)
  const tokens = parseTokens(await Bun.file(path).text(), path)
  const blank = findBlank(tokens)
  if (blank < 0) throw new Error(`${path} has no blank token <blk>`)
  const [encoderPath = '', decoderPath = ''] = findGraphs(folder, 'tdt', device !== 'cpu') ?? []
  const limits = { blank, perFrame: await tokensPerFrame(folder) }
  using opened = new DisposableStack()
  const features = join(folder, tdtFeaturesFile)
  const encoder = opened.adopt(openEncoder(runtime, features, encoderPath, device), each => each.close())
  const decoder = opened.adopt(openDecoder(runtime, decoderPath, device), each => each.close())
  const scores = decoder.scores
  if (scores !== -1 && scores < tokens.length)
    throw new Error(`${path} has ${tokens.length} tokens, and ${decoderPath} has scores for ${scores}`)
  const decode = (encoded: readonly EncodedFrames[], permitted: Permitted) =>
    decodeTdt(decoder, encoded, { tokens, permitted, ...limits })
  const kept = opened.move()
  return {
    name,
    languages: languagesByKind.tdt,
    translates: false,
    start: ({ prompt, vocabulary }) => ({
      rows,
      warning: prompt === null && vocabulary.length === 0 ? null : contextLeftOut,
      async hear(windows, { recording, language, listener }) {
        const encoded: EncodedFrames[] = []
        for (const window of windows) {
          encoded.push(encoder.encode(soundOf(window, recording)))
          await listener.onSamples(window.to)
        }
        const texts = inScript(tokens, language, encoded, decode).flatMap((decoded, row) => {
          const window = windows[row]
          if (!window) return []
          const placed = placeWords(window, wordsOf(decoded, language ?? 'en'))
          warnOfMissed(window, placed, listener)
          return placed
        })
        return { language: language ?? 'en', texts }
      },
    }),
    detect: null,
    close: () => kept.dispose(),
  }
}

/**
 * Decodes the windows. A window is decoded again if most of its text is in no script of the language. The second
 * decoding permits no letters of other scripts.
 */
function inScript(
  tokens: Tokens,
  language: string | null,
  encoded: readonly EncodedFrames[],
  decode: (encoded: readonly EncodedFrames[], permitted: Permitted) => TimedToken[][],
): TimedToken[][] {
  const decoded = decode(encoded, null)
  const foreign = decoded.map(row => isForeign(textOf(row), language))
  if (language === null || !foreign.includes(true)) return decoded
  const again = decode(
    encoded.filter((_, row) => foreign[row]),
    permittedFor(tokens, language),
  )
  return decoded.map((row, index) => (foreign[index] ? withLetters(again.shift() ?? []) : row))
}

async function tokensPerFrame(folder: string): Promise<number> {
  const config = Bun.file(join(folder, 'config.json'))
  const { max_tokens_per_step: given } = (await config.exists()) ? await config.json() : {}
  return typeof given === 'number' ? given : tokensPerFrameDefault
}

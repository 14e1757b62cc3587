// The TDT speech model, a token-and-duration transducer such as Parakeet v3: opens it and decodes its output. The model
// files have the layout of onnx-asr. A frame is 80 ms long. For a frame, the decoder predicts a token and a duration.
// The duration is the number of frames from this frame to the frame of the next token.
//
// The encoder reads one window at a time. The decoder processes several windows as one batch: one run of the decoder
// predicts the next token of each window. The predicted durations differ between the windows, so each window has its
// own current frame.

import { join } from 'node:path'
import { placeWords } from '../hear/place.ts'
import { contextLeftOut } from '../hear/prompt.ts'
import type { SpeechModel } from '../hear/speech-model.ts'
import { soundOf } from '../hear/windows.ts'
import { findGraphs, tdtFeaturesFile, tokensFile } from '../models/framewise-layout.ts'
import type { Runtime } from '../onnx/runtime.ts'
import type { Device } from '../onnx/session.ts'
import { languagesByKind } from './languages.ts'
import {
  bestOf,
  isForeign,
  type Permitted,
  permittedFor,
  probabilityOf,
  textOf,
  withLetters,
} from './script.ts'
import { type EncodedFrames, openDecoder, openEncoder, type State, type TdtDecoder } from './tdt-network.ts'
import { findBlank, isControl, parseTokens, type Tokens } from './tokens.ts'
import { type TimedToken, wordsOf } from './words.ts'

/** The length of a TDT frame (80 ms), as a number of Whisper's frames of 20 ms. */
const frameLength = 4
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
  const encoder = openEncoder(runtime, join(folder, tdtFeaturesFile), encoderPath, device)
  const decoder = openDecoder(runtime, decoderPath, device)
  const scores = decoder.scores
  if (scores !== -1 && scores < tokens.length)
    throw new Error(`${path} has ${tokens.length} tokens, and ${decoderPath} has scores for ${scores}`)
  const limits = { blank, perFrame: await tokensPerFrame(folder) }
  const decode = (encoded: readonly EncodedFrames[], permitted: Permitted) =>
    decodeTdt(decoder, encoded, { tokens, permitted, ...limits })
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
          return window ? placeWords(window, wordsOf(decoded, language ?? 'en')) : []
        })
        return { language: language ?? 'en', texts }
      },
    }),
    detect: null,
    close() {
      encoder.close()
      decoder.close()
    },
  }
}

/** Decodes the windows. A window is decoded a second time if most of its text is not in a script of the language. */
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

export type TdtOptions = {
  tokens: Tokens
  permitted: Permitted
  blank: number
  /** The maximum number of tokens that the decoder may return for one frame. */
  perFrame: number
}

type Row = {
  frames: EncodedFrames
  at: number
  emitted: number
  token: number
  state: State
  decoded: TimedToken[]
}

/**
 * Decodes several windows by greedy decoding. After a token, the decoder has another state for this window. After a
 * blank token, the state of the window does not change. A token lasts as many frames as its predicted duration, and at
 * least one frame.
 */
export function decodeTdt(
  decoder: TdtDecoder,
  encoded: readonly EncodedFrames[],
  { tokens, permitted, blank, perFrame }: TdtOptions,
): TimedToken[][] {
  const all = encoded.map(
    (frames): Row => ({
      frames,
      at: 0,
      emitted: 0,
      token: blank,
      state: decoder.emptyState(),
      decoded: [],
    }),
  )
  const isOpen = ({ at, frames }: Row) => at < frames.count
  for (let open = all.filter(isOpen); open.length > 0; open = open.filter(isOpen)) {
    const predictions = decoder.step(
      open.map(({ frames, at, token, state }) => ({ frame: frameOf(frames, at), token, state })),
    )
    for (const [index, row] of open.entries()) {
      const prediction = predictions[index]
      if (!prediction) throw new RangeError('the decoder returned too few rows')
      const { scores, state } = prediction
      const number = bestOf(scores, 0, tokens.length, permitted)
      const duration = durationIn(scores, tokens.length)
      if (number !== blank) {
        row.state = state
        row.token = number
        row.emitted++
        addToken(row, tokens[number] ?? '', {
          duration,
          probability: probabilityOf(scores, 0, tokens.length, number),
        })
      }
      const isStuck = number === blank || row.emitted >= perFrame
      if (duration === 0 && !isStuck) continue
      row.at += duration > 0 ? duration : 1
      row.emitted = 0
    }
  }
  return all.map(({ decoded }) => decoded)
}

function frameOf({ values, width }: EncodedFrames, at: number): Float32Array {
  return values.subarray(at * width, (at + 1) * width)
}

/** Returns the most probable duration, in frames. Returns 0 for a transducer model that does not predict durations. */
function durationIn(scores: Float32Array, tokens: number): number {
  return Math.max(0, bestOf(scores, tokens, scores.length - tokens, null))
}

function addToken(
  { decoded, at, frames }: Row,
  text: string,
  { duration, probability }: { duration: number; probability: number },
): void {
  if (isControl(text)) return
  const end = Math.min(at + Math.max(1, duration), frames.count)
  decoded.push({ text, from: at * frameLength, to: end * frameLength, probability })
}

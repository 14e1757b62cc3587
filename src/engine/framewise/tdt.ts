// A token-and-duration transducer (TDT) in the layout of onnx-asr, such as Parakeet v3. For each frame of 80 ms, its
// decoder predicts a token and the number of frames until the next one.
//
// The encoder reads one window at a time. The decoder runs for all windows of a block at once: every window has its own
// place in its own frames, and one call computes the next token of each window.

import { join } from 'node:path'
import { placeWords } from '../hear/place.ts'
import { contextLeftOut } from '../hear/prompt.ts'
import type { SpeechModel } from '../hear/speech-model.ts'
import { soundOf } from '../hear/windows.ts'
import { findGraphs, tdtFeaturesFile, tokensFile } from '../models/framewise-layout.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, openSession, type Port, type Session, type Tensor, tensor } from '../onnx/session.ts'
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
import { findBlank, isControl, parseTokens, type Tokens } from './tokens.ts'
import { type TimedToken, wordsOf } from './words.ts'

/** One frame of the encoder has this many of Whisper's frames of 20 ms. */
const frameLength = 4
const rows = 16
const tokensPerFrameDefault = 10

/** The output of the encoder for one window: `count` frames of `width` values. */
export type EncodedFrames = { values: Float32Array; count: number; width: number }

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

/** Decodes the windows, and once more those whose text has another script than the language. */
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

function openEncoder(runtime: Runtime, featuresPath: string, path: string, device: Device) {
  const features = openSession(runtime, featuresPath)
  const network = openSession(runtime, path, device)
  requirePorts(features, featuresPath, ['waveforms', 'waveforms_lens'], ['features', 'features_lens'])
  requirePorts(network, path, ['audio_signal', 'length'], ['outputs', 'encoded_lengths'])
  const runFeatures = features.run(['waveforms', 'waveforms_lens'], ['features', 'features_lens'])
  const runNetwork = network.run(['audio_signal', 'length'], ['outputs', 'encoded_lengths'])
  return {
    encode(sound: Float32Array): EncodedFrames {
      const samples = tensor(runtime, 'float32', sound, [1, sound.length])
      const length = tensor(runtime, 'int64', BigInt64Array.of(BigInt(sound.length)), [1])
      const [spectrum, frames] = runFeatures([samples, length])
      const [outputs, lengths] = runNetwork([spectrum, frames])
      const [, width = 0, all = 0] = outputs.dims
      const count = Number(new BigInt64Array(lengths.bytes(8).slice().buffer)[0])
      const values = transposed(outputs.floats(width * all), width, all)
      for (const used of [samples, length, spectrum, frames, outputs, lengths]) used.free()
      return { values, count: Math.min(count, all), width }
    },
    close() {
      features.close()
      network.close()
    },
  }
}

/** Converts `width` rows of `count` values to `count` rows of `width` values. */
function transposed(values: Float32Array, width: number, count: number): Float32Array {
  const result = new Float32Array(width * count)
  for (let row = 0; row < width; row++)
    for (let at = 0; at < count; at++) result[at * width + row] = values[row * count + at]!
  return result
}

/** The decoder's state of a window: one array for each of its state inputs, layers × width. */
type State = readonly Float32Array[]

export type Step = { frame: Float32Array; token: number; state: State }
export type Prediction = { scores: Float32Array; state: State }

export type TdtDecoder = {
  /** The number of scores for one frame, of tokens and durations together. -1 if the graph does not tell it. */
  scores: number
  emptyState(): State
  /** Computes the scores of the next token and of its duration for several windows at once. */
  step(steps: readonly Step[]): Prediction[]
  close(): void
}

const stateInputs = ['input_states_1', 'input_states_2'] as const

function openDecoder(runtime: Runtime, path: string, device: Device): TdtDecoder {
  const session = openSession(runtime, path, device)
  const outputNames = ['outputs', 'output_states_1', 'output_states_2'] as const
  const inputNames = ['encoder_outputs', 'targets', 'target_length', ...stateInputs]
  requirePorts(session, path, inputNames, outputNames)
  const run = session.run(inputNames, outputNames)
  const integers = (name: string, values: readonly number[], dims: number[]) => {
    const isLong = portOf(session.inputs, name)?.type === 'int64'
    return isLong
      ? tensor(runtime, 'int64', BigInt64Array.from(values, BigInt), dims)
      : tensor(runtime, 'int32', Int32Array.from(values), dims)
  }
  const sizes = stateInputs.map(name => {
    const [layers = 1, , width = 1] = portOf(session.inputs, name)?.dims ?? []
    return { layers, width }
  })
  return {
    scores: portOf(session.outputs, 'outputs')?.dims.at(-1) ?? -1,
    emptyState: () => sizes.map(({ layers, width }) => new Float32Array(layers * width)),
    step(steps) {
      const count = steps.length
      const width = steps[0]?.frame.length ?? 0
      const frames = new Float32Array(count * width)
      for (const [row, { frame }] of steps.entries()) frames.set(frame, row * width)
      const inputs: Tensor[] = [
        tensor(runtime, 'float32', frames, [count, width, 1]),
        integers(
          'targets',
          steps.map(({ token }) => token),
          [count, 1],
        ),
        integers(
          'target_length',
          steps.map(() => 1),
          [count],
        ),
        ...sizes.map(({ layers, width }, index) =>
          tensor(runtime, 'float32', joinStates(steps, index, layers, width), [layers, count, width]),
        ),
      ]
      const [outputs, ...states] = run(inputs)
      const scores = outputs.dims.at(-1) ?? 0
      const all = outputs.floats(count * scores).slice()
      const after = states.map((state, index) => {
        const { layers, width } = sizes[index] ?? { layers: 0, width: 0 }
        return splitStates(state.floats(layers * count * width), count, layers, width)
      })
      for (const used of [...inputs, outputs, ...states]) used.free()
      return steps.map((_, row) => ({
        scores: all.subarray(row * scores, (row + 1) * scores),
        state: after.map(rows => rows[row] ?? new Float32Array()),
      }))
    },
    close: () => session.close(),
  }
}

/** Joins one state of all windows: layers × windows × width. */
function joinStates(steps: readonly Step[], index: number, layers: number, width: number): Float32Array {
  const joined = new Float32Array(layers * steps.length * width)
  for (const [row, { state }] of steps.entries())
    for (let layer = 0; layer < layers; layer++)
      joined.set(
        state[index]?.subarray(layer * width, (layer + 1) * width) ?? [],
        (layer * steps.length + row) * width,
      )
  return joined
}

function splitStates(joined: Float32Array, count: number, layers: number, width: number): Float32Array[] {
  return Array.from({ length: count }, (_, row) => {
    const state = new Float32Array(layers * width)
    for (let layer = 0; layer < layers; layer++) {
      const from = (layer * count + row) * width
      state.set(joined.subarray(from, from + width), layer * width)
    }
    return state
  })
}

function portOf(ports: readonly Port[], name: string): Port | undefined {
  return ports.find(port => port.name === name)
}

function requirePorts(
  session: Session,
  path: string,
  inputs: readonly string[],
  outputs: readonly string[],
): void {
  const missing =
    inputs.find(name => !portOf(session.inputs, name)) ?? outputs.find(name => !portOf(session.outputs, name))
  if (missing) throw new Error(`${path} has no input or output named ${missing}`)
}

export type TdtOptions = {
  tokens: Tokens
  permitted: Permitted
  blank: number
  /** The maximum number of tokens that one frame may have. */
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
 * Greedy decoding of several windows. The state of a window advances only with a token, not with a blank. The end of
 * a token is the last frame that its duration covers, and at least one frame after its start.
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

/** Returns the most probable duration in frames. A transducer without durations has the duration 0. */
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

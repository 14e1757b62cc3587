// The models that turn sound into words, loaded once for all jobs.

import { limits } from '../../limits.ts'
import { samplesPerFrame, windowSamples } from '../audio.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Decoder, makeDecoder } from './decoder.ts'
import { type Features, openFeatures } from './features.ts'
import { openVad, type Vad } from './vad.ts'
import { type Encoder, makeEncoder, type Whisper } from './whisper.ts'

export type SpeechModels = {
  whisper: Whisper
  vad: Vad
  features: Features
  encoder: Encoder
  decoder: Decoder
  /** Also returns the cross-attention of each token. */
  attendingDecoder: Decoder
  /** Windows in a batch. */
  rows: number
}

export function openSpeechModels(runtime: Runtime, whisper: Whisper, vadModel: Uint8Array): SpeechModels {
  return {
    whisper,
    vad: openVad(runtime, vadModel),
    features: openFeatures(runtime, whisper.facts.mels),
    encoder: makeEncoder(runtime, whisper),
    decoder: makeDecoder(runtime, whisper, false),
    attendingDecoder: makeDecoder(runtime, whisper, true),
    rows: rowsFor(whisper),
  }
}

/** As many windows as help, within the memory that their cache may take. */
function rowsFor({ facts, device }: Whisper): number {
  const cacheBytes = 2 * facts.layers * facts.width * 4 * (windowSamples / samplesPerFrame)
  const { cpu, gpu } = limits.engineCacheBytes
  return Math.max(1, Math.min(16, Math.floor((device === 'cpu' ? cpu : gpu) / cacheBytes)))
}

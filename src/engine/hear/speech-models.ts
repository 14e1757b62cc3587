// The models that turn sound into words, loaded once for all jobs.

import { limits } from '../../limits.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Features, openFeatures } from './features.ts'
import { openVad, type Vad } from './vad.ts'
import type { Whisper } from './whisper.ts'

export type SpeechModels = {
  whisper: Whisper
  vad: Vad
  features: Features
  /** Windows in a batch. */
  rows: number
}

export function openSpeechModels(runtime: Runtime, whisper: Whisper, vadModel: Uint8Array): SpeechModels {
  return {
    whisper,
    vad: openVad(runtime, vadModel),
    features: openFeatures(runtime, whisper.facts.mels),
    rows: rowsFor(whisper),
  }
}

/** As many windows as help, within the memory that their cache may take. */
function rowsFor({ device, windowBytes }: Whisper): number {
  const { cpu, gpu } = limits.engineCacheBytes
  return Math.max(1, Math.min(16, Math.floor((device === 'cpu' ? cpu : gpu) / windowBytes)))
}

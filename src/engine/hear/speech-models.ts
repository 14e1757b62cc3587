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

/** The maximum of windows in a batch. On a CPU 16 need as much time as 8, and twice the memory. */
const rowsMax = { cpu: 8, gpu: 16 }

/** Returns the number of windows in a batch: the maximum, or as many as fit into the memory for the cache. */
function rowsFor({ device, windowBytes }: Whisper): number {
  const kind = device === 'cpu' ? 'cpu' : 'gpu'
  return Math.max(1, Math.min(rowsMax[kind], Math.floor(limits.engineCacheBytes[kind] / windowBytes)))
}

// The models that convert sound to words. They are loaded once and used for all jobs.

import { limits } from '../../limits.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Features, openFeatures } from './features.ts'
import { openVad, type Vad } from './vad.ts'
import type { Whisper } from './whisper.ts'

export type SpeechModels = {
  whisper: Whisper
  vad: Vad
  features: Features
  /** The number of windows that are decoded together. */
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

/**
 * The maximum number of windows in a batch. On a CPU, 16 windows at once need as much time as two batches of
 * 8, and twice the memory.
 */
const rowsMax = { cpu: 8, gpu: 16 }

/**
 * Returns the number of windows in a batch: the maximum, or fewer if the memory for the cache is too small.
 */
function rowsFor({ device, windowBytes }: Whisper): number {
  const kind = device === 'cpu' ? 'cpu' : 'gpu'
  return Math.max(1, Math.min(rowsMax[kind], Math.floor(limits.engineCacheBytes[kind] / windowBytes)))
}

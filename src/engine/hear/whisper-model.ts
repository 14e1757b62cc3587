// Makes a speech model (see speech-model.ts) from a Whisper network.

import { limits } from '../../limits.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openFeatures } from './features.ts'
import { hearBlock } from './hear-block.ts'
import { detect } from './language.ts'
import { contextTokens } from './prompt.ts'
import type { SpeechModel } from './speech-model.ts'
import { languagesOf, type Whisper } from './whisper.ts'
import { framesOf, soundOf } from './windows.ts'

export function whisperModel(runtime: Runtime, name: string, whisper: Whisper): SpeechModel {
  const features = openFeatures(runtime, whisper.facts.mels)
  const models = { whisper, features, rows: rowsFor(whisper) }
  return {
    name,
    languages: languagesOf(whisper),
    translates: whisper.facts.translate !== null,
    start(context) {
      const { ids, warning } = contextTokens(whisper, context)
      return {
        rows: rowsWith(models.rows, ids),
        warning,
        hear: (windows, options) => hearBlock(models, windows, { ...options, context: ids }),
      }
    },
    detect(windows, recording) {
      const voters = windows.toSorted((one, other) => other.samples - one.samples).slice(0, votersMax)
      const encoded = voters.map(window =>
        whisper.encoder.encode(features.logMel(soundOf(window, recording)), framesOf(window)),
      )
      try {
        return detect(whisper, encoded, voters)
      } finally {
        for (const window of encoded) window.close()
      }
    },
    close() {
      features.close()
      whisper.close()
    },
  }
}

/**
 * The maximum number of windows from which Whisper detects the language for another speech model. If there are more
 * windows, the longest ones are used.
 */
const votersMax = 3

/**
 * The maximum number of windows in a batch. On a CPU, a batch of 16 windows takes as long as two batches of 8, and
 * needs twice the memory. On a GPU, a step with 32 rows takes little longer than a step with one row.
 */
const rowsMax = { cpu: 8, gpu: 32 }

/**
 * Returns the number of windows in a batch: the maximum in `rowsMax`, or fewer if the limit for the memory of the
 * decoder's caches does not allow this maximum.
 */
function rowsFor({ device, windowBytes }: Whisper): number {
  const kind = device === 'cpu' ? 'cpu' : 'gpu'
  return Math.max(1, Math.min(rowsMax[kind], Math.floor(limits.engineCacheBytes[kind] / windowBytes)))
}

/**
 * The maximum number of prompt tokens in a batch, over all rows. For each prompt token, a decoder may return a score
 * for each token of the vocabulary, which needs much memory.
 */
const positionsMax = 1000

function rowsWith(rows: number, context: readonly number[]): number {
  return Math.max(1, Math.min(rows, Math.floor(positionsMax / Math.max(1, context.length))))
}

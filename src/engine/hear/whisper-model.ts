// Makes a speech model, which converts windows of sound to words (see speech-model.ts), from a Whisper model.

import type { Runtime } from '../onnx/runtime.ts'
import { rowsFor, rowsWith } from './batch-rows.ts'
import { openFeatures } from './features.ts'
import { hearBlock } from './hear-block.ts'
import { JointDecoding } from './joint-decoding.ts'
import { detect } from './language.ts'
import { contextTokens } from './prompt.ts'
import type { SpeechModel } from './speech-model.ts'
import { languagesOf, type Whisper } from './whisper.ts'
import { framesOf, soundOf } from './windows.ts'

export function whisperModel(runtime: Runtime, name: string, whisper: Whisper): SpeechModel {
  const features = openFeatures(runtime, whisper.facts.mels)
  const rows = rowsFor(whisper)
  const models = { whisper, features, rows, joint: new JointDecoding(rows, whisper) }
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
        end: models.joint.enter(),
      }
    },
    async detect(windows, recording) {
      const voters = windows.toSorted((one, other) => other.samples - one.samples).slice(0, votersMax)
      const encoded = voters.map(window =>
        whisper.encoder.encode({
          picture: features.logMel(soundOf(window, recording)),
          soundFrames: framesOf(window),
        }),
      )
      try {
        return await models.joint.alone(() => detect(whisper, encoded, voters))
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
 * The maximum number of windows from which Whisper detects the language, if the speech model of the job cannot detect
 * the language itself. The longest windows of the first batch are used.
 */
const votersMax = 3

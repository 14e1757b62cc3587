// Passes the voice counts of the built-in speech model to the diarization. Voice counts are probabilities for each 10
// ms: no voice, one voice, two voices or more. In a job, the speech model also decodes text, but the benchmarks of
// diarization need no text.

import { withEncoded } from '../../../src/engine/hear/decode-windows.ts'
import { type Features, openFeatures } from '../../../src/engine/hear/features.ts'
import { findBlocks } from '../../../src/engine/hear/find-windows.ts'
import { Recording } from '../../../src/engine/hear/recording.ts'
import { openVad, type Vad } from '../../../src/engine/hear/vad.ts'
import { openWhisper, type Whisper } from '../../../src/engine/hear/whisper.ts'
import { vadModel } from '../../../src/engine/onnx/library.ts'
import type { Runtime } from '../../../src/engine/onnx/runtime.ts'
import type { Diarization } from '../../../src/engine/who/diarize.ts'

export type Counter = { vad: Vad; whisper: Whisper; features: Features }

export async function openCounter(runtime: Runtime, folder: string): Promise<Counter> {
  const whisper = await openWhisper(runtime, folder, { device: 'cpu', variant: 'compact' })
  const vad = openVad(runtime, await Bun.file(vadModel()).bytes())
  return { vad, whisper, features: openFeatures(runtime, whisper.facts.mels) }
}

/**
 * Encodes all windows of the sound with the speech model. A small network, the voice network, reads the output of the
 * encoder. For each 10 ms, it gives three probabilities: no voice, one voice, two voices or more. The diarization gets
 * these probabilities.
 */
export async function addVoiceCounts(
  models: Counter,
  samples: Float32Array,
  diarization: Diarization,
): Promise<void> {
  const recording = new Recording()
  for await (const windows of findBlocks(models.vad, partsOf(samples), recording, 1))
    await withEncoded(models, windows, {
      recording,
      onShare: async () => {},
      onVoiceCounts: ({ pieces }, voices) => diarization.addVoiceCounts(pieces, voices),
      use: async () => {},
    })
}

async function* partsOf(samples: Float32Array): AsyncGenerator<Float32Array> {
  for (let at = 0; at < samples.length; at += 160_000) yield samples.subarray(at, at + 160_000)
}

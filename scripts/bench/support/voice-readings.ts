// Passes the voice readings of the built-in speech model to the diarization. A voice reading says how many voices speak
// at each moment, and has vectors of these voices. No text is decoded.

import { withEncoded } from '../../../src/engine/hear/decode-windows.ts'
import { type Features, openFeatures } from '../../../src/engine/hear/features.ts'
import { findBlocks } from '../../../src/engine/hear/find-windows.ts'
import { Recording } from '../../../src/engine/hear/recording.ts'
import { openVad, type Vad } from '../../../src/engine/hear/vad.ts'
import { openWhisper, type Whisper } from '../../../src/engine/hear/whisper.ts'
import { vadModel } from '../../../src/engine/onnx/library.ts'
import type { Runtime } from '../../../src/engine/onnx/runtime.ts'
import type { Diarization } from '../../../src/engine/who/diarize.ts'

export type VoiceReader = { vad: Vad; whisper: Whisper; features: Features }

export async function openVoiceReader(runtime: Runtime, folder: string): Promise<VoiceReader> {
  const whisper = await openWhisper(runtime, folder, { device: 'cpu', variant: 'compact' })
  const vad = openVad(runtime, await Bun.file(vadModel()).bytes())
  return { vad, whisper, features: openFeatures(runtime, whisper.facts.mels) }
}

/**
 * Passes the voice readings of all windows of the sound to the diarization. A voice reading says how many voices speak
 * at each moment of a window, and has vectors of these voices. The encoder of the speech model encodes each window, and
 * a small second network (the voice network) finds the voice reading in the output of the encoder.
 */
export async function addVoiceReadings(
  models: VoiceReader,
  samples: Float32Array,
  diarization: Diarization,
): Promise<void> {
  const recording = new Recording()
  for await (const windows of findBlocks(models.vad, partsOf(samples), recording, { rows: 1 }))
    await withEncoded(models, windows, {
      recording,
      onShare: async () => {},
      onVoiceReading: ({ pieces }, reading) => diarization.addVoiceReading(pieces, reading),
      use: async () => {},
    })
}

async function* partsOf(samples: Float32Array): AsyncGenerator<Float32Array> {
  for (let at = 0; at < samples.length; at += 160_000) yield samples.subarray(at, at + 160_000)
}

// The models of diarization. The segmentation model finds the voices in each view, which is ten seconds of sound. The
// embedding model converts the sound of a voice to an embedding, so that voices of different views can be compared.

import { basename } from 'node:path'
import type { VoiceProfile } from '../models/catalogue.ts'
import type { VoiceFiles } from '../models/voices.ts'
import type { Runtime } from '../onnx/runtime.ts'
import type { Device } from '../onnx/session.ts'
import type { Embedder } from './embedder.ts'
import { openEncoder } from './encoder.ts'
import { openPlda } from './open-plda.ts'
import type { Plda } from './plda.ts'
import { type FindClasses, openSegmentation } from './segmentation.ts'
import { openWespeaker } from './wespeaker.ts'

export type Voices = {
  /** The name of the embedding model. Only embeddings of the same model can be compared. */
  name: string
  segment: FindClasses
  embedder: Embedder
  /**
   * The PLDA model (probabilistic linear discriminant analysis), which removes most differences between embeddings of
   * the same voice. Null if none is installed for the embedding model.
   */
  plda: Plda | null
  profile: VoiceProfile
  warning: VoiceFiles['warning']
  /**
   * True only for the small built-in voice models, which make many errors in noise. Diarization then also uses what the
   * speech model finds: the number of voices at each time (voice counts), and vectors that are similar for the same
   * voice (frame embeddings).
   */
  usesVoiceReadings: boolean
}

export function openVoices(
  runtime: Runtime,
  { segmentation, embedding, plda, profile, warning, areSmall }: VoiceFiles,
  device: Device = 'cpu',
): Voices {
  const openEmbedder = { fbank: openWespeaker, mel: openEncoder }[profile.features]
  if (!openEmbedder) throw new Error(`the features ${profile.features} are not known`)
  const placedOn = areSmall ? 'cpu' : device
  return {
    name: basename(embedding),
    profile,
    warning,
    usesVoiceReadings: areSmall,
    embedder: openEmbedder(runtime, embedding, placedOn),
    plda: plda === null ? null : openPlda(plda),
    segment: openSegmentation(runtime, segmentation, placedOn),
  }
}

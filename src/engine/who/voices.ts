// The two models of diarization. The segmentation model finds up to three voices in each frame of a
// ten-second view, but does not identify them. The embedding model converts a piece to an embedding. Embeddings of
// different views can be compared, so they show which voices are the same person.

import { sampleRate } from '../audio.ts'
import type { VoiceProfile } from '../models/catalogue.ts'
import { modelFile, type VoiceFiles } from '../models/voices.ts'
import type { Runtime } from '../onnx/runtime.ts'
import type { Device } from '../onnx/session.ts'
import type { Embedder } from './embedder.ts'
import { openEncoder } from './encoder.ts'
import { openModel } from './model.ts'
import { openPlda, type Plda } from './plda.ts'
import { openWespeaker } from './wespeaker.ts'

export const viewSamples = 10 * sampleRate
/**
 * The number of samples from the start of one frame of the segmentation model to the start of the next frame: 16.9 ms.
 */
export const frameStep = 270
/** The number of samples that one frame covers. */
const frameSamples = 991
/** The index of the sample at the middle of the first frame. */
export const frameCentre = (frameSamples - 1) / 2
export const viewFrames = 1 + Math.floor((viewSamples - frameSamples) / frameStep)
/** The maximum number of voices that the segmentation model finds in one view. */
export const localVoices = 3

/**
 * The voices that speak in a frame of each class. The index is the class. Bit k is set if local voice k
 * speaks.
 */
export const classVoices = Uint8Array.of(0, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110)

export type Voices = {
  /** Returns the class of every frame of `count` views. `sound` contains these views one after the other. */
  segment(sound: Float32Array, count: number): Uint8Array
  embedder: Embedder
  /** The PLDA model of the embeddings. Null when there is none. */
  plda: Plda | null
  profile: VoiceProfile
  warning: VoiceFiles['warning']
}

export function openVoices(
  runtime: Runtime,
  { segmentation, embedding, plda, profile, warning }: VoiceFiles,
  device: Device = 'cpu',
): Voices {
  const model = openModel(runtime, modelFile(segmentation), device)
  const classes = model.outputSize
  if (classes > 0 && classes !== classVoices.length)
    throw new Error(`the segmentation model knows ${classes} classes, not ${classVoices.length}`)
  const openEmbedder = { fbank: openWespeaker, mel: openEncoder }[profile.features]
  if (!openEmbedder) throw new Error(`the features ${profile.features} are not known`)
  return {
    profile,
    warning,
    embedder: openEmbedder(runtime, embedding, device),
    plda: plda === null ? null : openPlda(plda),
    segment: (sound, count) =>
      model.run(sound, [count, 1, viewSamples], (scores, [, frames = 0, width = 0]) => {
        if (frames !== viewFrames) throw new Error(`the segmentation model gives ${frames} frames for 10 s`)
        return mostLikelyClasses(scores, width)
      }),
  }
}

function mostLikelyClasses(scores: Float32Array, width: number): Uint8Array {
  const best = new Uint8Array(scores.length / width)
  for (let row = 0, from = 0; row < best.length; row++, from += width)
    for (let at = 1; at < width; at++) if (scores[from + at]! > scores[from + best[row]!]!) best[row] = at
  return best
}

// The two models of diarization. The segmentation model finds up to three voices in each frame of a
// ten-second view, but does not identify them. The embedding model converts a voice to a vector. The vectors
// of two views can be compared.

import { existsSync } from 'node:fs'
import { sampleRate, samplesPerFft, samplesPerMelFrame } from '../audio.ts'
import type { VoiceProfile } from '../models/catalogue.ts'
import { modelFile, type VoiceFiles } from '../models/voices.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, openSession, type Tensor, tensor } from '../onnx/session.ts'
import { unit } from './cluster.ts'
import { bands, openFbank } from './fbank.ts'

export const viewSamples = 10 * sampleRate
/**
 * The number of samples from the start of one frame of the segmentation model to the start of the next: 16.9
 * ms.
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

/** The minimum number of feature frames for an embedding. */
const embeddingFramesMin = 25

export type Voices = {
  /** Returns the class of every frame of `count` views. `sound` contains these views one after the other. */
  segment(sound: Float32Array, count: number): Uint8Array
  /**
   * Returns the filterbank features of `sound`. A part of these features, with one voice, is the input of
   * `embed`.
   */
  features(sound: Float32Array): Float32Array
  /**
   * Returns the embedding of a voice from its feature frames. Returns null if there are too few feature
   * frames.
   */
  embed(features: Float32Array): Float32Array | null
  profile: VoiceProfile
  warning: VoiceFiles['warning']
}

export function openVoices(
  runtime: Runtime,
  { segmentation, embedding, profile, warning }: VoiceFiles,
  device: Device = 'cpu',
): Voices {
  for (const folder of [segmentation, embedding])
    if (!existsSync(modelFile(folder))) throw new Error(`${modelFile(folder)} is missing`)
  const segmentationModel = openModel(runtime, modelFile(segmentation), device)
  const embeddingModel = openModel(runtime, modelFile(embedding), device)
  const classes = segmentationModel.outputSize
  if (classes > 0 && classes !== classVoices.length)
    throw new Error(`the segmentation model knows ${classes} classes, not ${classVoices.length}`)
  const fbank = openFbank(runtime)

  return {
    profile,
    warning,
    segment: (sound, count) => {
      const input = tensor(runtime, 'float32', sound, [count, 1, viewSamples])
      const output = segmentationModel.run(input)
      const [, frames = 0, width = 0] = output.dims
      const found = mostLikelyClasses(output.floats(count * frames * width), width)
      for (const used of [input, output]) used.free()
      if (frames !== viewFrames) throw new Error(`the segmentation model gives ${frames} frames for 10 s`)
      return found
    },
    features: sound => fbank.of(sound),
    embed: features => {
      const frames = features.length / bands
      if (frames < embeddingFramesMin) return null
      const input = tensor(runtime, 'float32', withoutMeans(features, frames), [1, frames, bands])
      const output = embeddingModel.run(input)
      const vector = unit(output.floats(output.dims.at(-1) ?? 0))
      for (const used of [input, output]) used.free()
      return vector.every(Number.isFinite) ? vector : null
    },
  }
}

/**
 * Opens a model with one input and one output. `outputSize` is the last dimension of the output. It is below
 * 1 if the model does not fix this dimension.
 */
function openModel(runtime: Runtime, file: string, device: Device) {
  const session = openSession(runtime, file, device)
  const [input] = session.inputs
  const [output] = session.outputs
  if (!input || !output) throw new Error(`${file} has no input or no output`)
  const run = session.run([input.name], [output.name])
  return {
    outputSize: output.dims.at(-1) ?? 0,
    run: (given: Tensor) => run([given])[0],
  }
}

function mostLikelyClasses(scores: Float32Array, width: number): Uint8Array {
  const best = new Uint8Array(scores.length / width)
  for (let row = 0, from = 0; row < best.length; row++, from += width)
    for (let at = 1; at < width; at++) if (scores[from + at]! > scores[from + best[row]!]!) best[row] = at
  return best
}

/**
 * Subtracts the mean over the frames from each mel band. The mean represents the microphone and the acoustics
 * of the place, which do not change.
 */
function withoutMeans(features: Float32Array, frames: number): Float32Array {
  const means = new Float64Array(bands)
  for (let at = 0; at < features.length; at++) means[at % bands]! += features[at]! / frames
  return features.map((value, at) => value - means[at % bands]!)
}

/** Returns the frame of the segmentation model nearest to the middle of a feature frame. */
export function frameOfFeature(feature: number): number {
  const middle = feature * samplesPerMelFrame + samplesPerFft / 2
  return Math.min(viewFrames - 1, Math.max(0, Math.round((middle - frameCentre) / frameStep)))
}

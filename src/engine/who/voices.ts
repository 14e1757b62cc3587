// The two models that tell voices apart: one says who of up to three talks in each frame of ten seconds, without
// knowing them; the other gives a voice a print that can be compared across the recording.

import { existsSync } from 'node:fs'
import { samplesPerMelFrame } from '../audio.ts'
import type { VoiceProfile } from '../models/catalogue.ts'
import { modelFile, type VoiceFiles } from '../models/voices.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, openSession, tensor } from '../onnx/session.ts'
import { unit } from './cluster.ts'
import { bands, openFbank } from './fbank.ts'

export const viewSamples = 160_000
/** Frames of the segmentation: 16.9 ms apart, the first one centred on sample 495. */
export const frameStep = 270
export const frameCentre = 495
export const viewFrames = Math.floor((viewSamples - 721) / frameStep)
export const localVoices = 3

/** What each class of the model says: bit k stands for local voice k. */
export const classVoices = [0, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110]

/** The least a print is made of. */
const printFramesMin = 25

export type Voices = {
  /** Ten seconds each, one after the other, to the class of every frame. */
  segment(sound: Float32Array, views: number): Uint8Array
  /** Filterbank features of a stretch of sound, of which `print` takes what is one voice. */
  features(sound: Float32Array): Float32Array
  /** The print of a voice from its frames of features, or null when they are too few. */
  print(features: Float32Array): Float32Array | null
  profile: VoiceProfile
}

export function openVoices(
  runtime: Runtime,
  { segmentation, embedding, profile }: VoiceFiles,
  device: Device = 'cpu',
): Voices {
  for (const folder of [segmentation, embedding])
    if (!existsSync(modelFile(folder))) throw new Error(`${modelFile(folder)} is missing`)
  const views = openSession(runtime, modelFile(segmentation), device)
  const prints = openSession(runtime, modelFile(embedding), device)
  const classes = views.outputs[0]?.dims.at(-1)
  if (classes !== undefined && classes > 0 && classes !== classVoices.length)
    throw new Error(`the segmentation model knows ${classes} classes, not ${classVoices.length}`)
  const runViews = views.run([views.inputs[0]!.name], [views.outputs[0]!.name])
  const runPrint = prints.run([prints.inputs[0]!.name], [prints.outputs[0]!.name])
  const fbank = openFbank(runtime)

  return {
    profile,
    segment: (sound, count) => {
      const input = tensor(runtime, 'float32', sound, [count, 1, viewSamples])
      const [output] = runViews([input])
      const [, frames, width] = output!.dims as [number, number, number]
      const said = likeliest(output!.floats(count * frames * width), width)
      for (const each of [input, output!]) each.free()
      if (frames !== viewFrames) throw new Error(`the segmentation model gives ${frames} frames for 10 s`)
      return said
    },
    features: sound => fbank.of(sound),
    print: features => {
      const frames = features.length / bands
      if (frames < printFramesMin) return null
      const input = tensor(runtime, 'float32', centred(features, frames), [1, frames, bands])
      const [output] = runPrint([input])
      const size = output!.dims.at(-1)!
      const print = unit(output!.floats(size))
      for (const each of [input, output!]) each.free()
      return print.every(Number.isFinite) ? print : null
    },
  }
}

function likeliest(scores: Float32Array, width: number): Uint8Array {
  const best = new Uint8Array(scores.length / width)
  for (let row = 0, from = 0; row < best.length; row++, from += width)
    for (let at = 1; at < width; at++) if (scores[from + at]! > scores[from + best[row]!]!) best[row] = at
  return best
}

/** Each band without its mean: what the microphone and the room add is the same in all frames. */
function centred(features: Float32Array, frames: number): Float32Array {
  const means = new Float64Array(bands)
  for (let at = 0; at < features.length; at++) means[at % bands]! += features[at]! / frames
  return features.map((value, at) => value - means[at % bands]!)
}

/** The frame of the segmentation that hears the middle of a frame of features. */
export function frameOfFeature(feature: number): number {
  const middle = feature * samplesPerMelFrame + 200
  return Math.min(viewFrames - 1, Math.max(0, Math.round((middle - frameCentre) / frameStep)))
}

// Opens an embedding model: WeSpeaker's ResNet34 or the model of the tests. Both read Kaldi's filterbank features.

import { samplesPerFft } from '../audio.ts'
import { modelFile } from '../models/installed-voices.ts'
import type { Runtime } from '../onnx/runtime.ts'
import type { Device } from '../onnx/session.ts'
import type { Embedder } from './embedder.ts'
import { openFbank } from './fbank.ts'
import { bands } from './fbank-matrices.ts'
import { openModel } from './model.ts'

/** The minimum number of feature frames for an embedding. Fewer frames give no embedding. */
const framesMin = 25
/**
 * The number of feature frames is rounded down to a multiple of 25, because a GPU needs extra time for each number of
 * frames that it has not processed before.
 */
const framesStep = 25

export function openWespeaker(runtime: Runtime, folder: string, device: Device): Embedder {
  const model = openModel(runtime, modelFile(folder), device)
  const fbank = openFbank(runtime)
  return {
    width: bands,
    sizeMin: 0,
    firstMiddle: samplesPerFft / 2,
    features: sound => fbank.of(sound),
    withoutNoise: features => features,
    embed: parts =>
      parts.map(features => {
        const all = features.length / bands
        if (all < framesMin) return null
        const frames = all - (all % framesStep)
        const used = features.subarray(0, frames * bands)
        return model.run(withoutMeans(used, frames), [1, frames, bands], finite)
      }),
  }
}

/** Returns a copy of the vector. Returns null if a value of the vector is not finite. */
function finite(vector: Float32Array): Float32Array | null {
  return vector.every(Number.isFinite) ? vector.slice() : null
}

/** Subtracts from each mel band its mean over all frames. This reduces the influence of the microphone and the room. */
function withoutMeans(features: Float32Array, frames: number): Float32Array {
  const means = new Float64Array(bands)
  for (let at = 0; at < features.length; at++) means[at % bands]! += features[at]! / frames
  return features.map((value, at) => value - means[at % bands]!)
}

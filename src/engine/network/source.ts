// Reads the float weights of a published Whisper model by name. The files are Hugging Face's safetensors file, or the
// ONNX files of onnx-community and optimum.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type FloatWeights, floatsOf } from './float-weights.ts'
import { fromOnnx } from './onnx-source.ts'
import { fromSafetensors } from './safetensors-source.ts'

/**
 * Maps the name of each tensor to a function that reads the tensor as 32-bit floats. A matrix is outputs × inputs, as
 * in Hugging Face's files. Each name begins with `encoder.` or `decoder.`.
 */
export type Source = Map<string, () => Float32Array>

/** The suffix of the names of ONNX files with float weights: '' for 32 bits, '_fp16' for 16 bits. */
export type FloatVariant = '' | '_fp16'

/** The name of Hugging Face's file of float weights, in the folder of a model. */
export const safetensorsFile = 'model.safetensors'

export function openSource(folder: string, variant: FloatVariant = ''): Source {
  return new Map([...openWeights(folder, variant)].map(([name, find]) => [name, () => floatsOf(find())]))
}

/**
 * Returns the float weights of the model in the folder. `variant` is the suffix of the ONNX files, which are read only
 * if `model.safetensors` is missing.
 */
export function openWeights(folder: string, variant: FloatVariant = ''): FloatWeights {
  const published = join(folder, safetensorsFile)
  if (existsSync(published)) return fromSafetensors(published)
  return new Map([
    ...fromOnnx(join(folder, 'onnx'), `encoder_model${variant}.onnx`, 'encoder'),
    ...fromOnnx(join(folder, 'onnx'), `decoder_model_merged${variant}.onnx`, 'decoder'),
  ])
}

// Reads the dimensions of a Whisper model in the compact form (8-bit weights) from the shapes of its tensors.

import type { Stored } from '../onnx/messages.ts'
import { headSize } from './layers.ts'

export type Size = {
  mels: number
  width: number
  heads: number
  encoderLayers: number
  decoderLayers: number
  vocabulary: number
}

export function sizeOf(tensors: ReadonlyMap<string, Stored>): Size {
  const dims = (name: string) => {
    const tensor = tensors.get(name)
    if (!tensor) throw new Error(`the compact model has no ${name}`)
    return tensor.dims
  }
  const layersOf = (half: string) => {
    let count = 0
    while (tensors.has(`${half}.layers.${count}.fc1.weight`)) count++
    return count
  }
  const [width = 0, mels = 0] = dims('encoder.conv1.weight')
  const [vocabulary = 0] = dims('decoder.embed_tokens.weight')
  return {
    mels,
    width,
    heads: width / headSize,
    encoderLayers: layersOf('encoder'),
    decoderLayers: layersOf('decoder'),
    vocabulary,
  }
}

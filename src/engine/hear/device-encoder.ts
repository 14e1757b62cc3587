// The encoder on a GPU. Its output stays in the memory of the GPU.

import type { FloatSize, FloatType } from '../network/float-size.ts'
import type { DeviceMemory } from '../onnx/device-memory.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Session, tensor } from '../onnx/session.ts'
import type { Facts } from './facts.ts'
import { EncodedWindow, type Encoder } from './network.ts'

type EncoderParts = { facts: Facts; size: FloatSize; type: FloatType }

/** Makes the encoder, which encodes one window in each run. */
export function makeEncoder(
  runtime: Runtime,
  encoder: Session,
  memory: DeviceMemory,
  { facts, size, type }: EncoderParts,
): Encoder {
  const { frames, width, heads, alignmentHeads } = size
  const states = [1, frames, width]
  const outputs = [
    ...Array.from({ length: size.decoderLayers }, (_, layer) => [
      { name: `key.${layer}`, dims: states },
      { name: `value.${layer}`, dims: states },
    ]).flat(),
    ...(alignmentHeads.length > 0
      ? [{ name: 'aligned', dims: [1, alignmentHeads.length, width / heads, frames] }]
      : []),
  ]
  return {
    encode({ picture }) {
      const mel = tensor(runtime, 'float32', picture, [1, facts.mels, 2 * frames])
      const binding = encoder.bind()
      binding.input('mel', mel)
      const tensors = outputs.map(({ name, dims }) => {
        const output = memory.tensor(type, dims)
        binding.output(name, output)
        return output
      })
      binding.run()
      binding.close()
      mel.free()
      return new EncodedWindow(tensors)
    },
  }
}

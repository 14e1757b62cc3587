// Finds the weights of a model in Hugging Face's safetensors file.

import { mapFile } from '../../base/map-file.ts'
import { type FloatWeights, isFloat, plainName, withCheckedLength } from './float-weights.ts'
import { headerOf } from './tensor-file.ts'

export function fromSafetensors(path: string): FloatWeights {
  const { header, from: start } = headerOf(path)
  const bytes = mapFile(path)
  return new Map(
    Object.entries(header).flatMap(
      ([
        name,
        {
          dtype,
          shape: dims,
          data_offsets: [from, to],
        },
      ]) => {
        const type = isFloat(dtype) ? dtype : null
        const plain = plainName(name)
        if (!type || !plain) return []
        const content = bytes.subarray(start + from, start + to)
        return [[plain, () => withCheckedLength(plain, { type, dims, bytes: content, transposed: false })]]
      },
    ),
  )
}

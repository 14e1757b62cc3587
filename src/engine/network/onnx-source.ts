// Finds the weights of a model in its ONNX files. These are files that onnx-community publishes on Hugging Face, or
// files that Optimum, an export tool of Hugging Face, has written.

import { join } from 'node:path'
import { mapFile } from '../../base/map-file.ts'
import { reasonOf } from '../../base/reason.ts'
import { type Model, type RawConstant, readModel } from '../onnx/weights.ts'
import { bytesIn, type FloatWeights, plainName, type Weight, withCheckedLength } from './float-weights.ts'

/** The float types of ONNX files. Each key is the number with which an ONNX file names the type. */
const onnxTypes: Partial<Record<number, Weight['type']>> = { 1: 'F32', 10: 'F16', 16: 'BF16' }

export function fromOnnx(folder: string, file: string, half: 'encoder' | 'decoder'): FloatWeights {
  const { constants, operations } = readFile(join(folder, file))
  const weights: FloatWeights = new Map()
  const weightOf = ({ type: id, dims, bytes, stored }: RawConstant, transposed: boolean): Weight => {
    const type = onnxTypes[id]
    if (!type) throw new Error(`${file} has weights of type ${id}, which are not floats`)
    if (bytes) return { type, dims, bytes, transposed }
    if (!stored) throw new Error(`${file} has a weight without bytes`)
    const length = stored.bytes ?? bytesIn(type, dims)
    const part = mapFile(join(folder, stored.file)).subarray(stored.from, stored.from + length)
    if (part.length !== length) throw new Error(`${stored.file} is cut off: copy or download it again`)
    return { type, dims, bytes: part, transposed }
  }
  const add = (name: string, constant: RawConstant, transposed: boolean) =>
    weights.set(name, () => withCheckedLength(name, weightOf(constant, transposed)))
  for (const [name, constant] of constants) {
    const plain = plainName(name.replace(/_merged_\d+$/, ''), half)
    if (plain && constant.dims.length > 0) add(plain, constant, false)
  }
  // In an ONNX file, the name of a matrix does not contain its layer. The layer is in the name of the MatMul operation,
  // which has the matrix as its second input.
  for (const { name, kind, inputs } of operations) {
    const constant = kind === 'MatMul' ? constants.get(inputs[1] ?? '') : undefined
    const plain = plainName(
      name
        .slice(1)
        .replaceAll('/', '.')
        .replace(/\.MatMul$/, '.weight'),
      half,
    )
    if (constant && plain?.endsWith('.weight')) add(plain, constant, true)
  }
  return weights
}

/** Reads an ONNX file. An error names the file. */
function readFile(path: string): Model {
  try {
    return readModel(mapFile(path))
  } catch (error) {
    throw new Error(`${path} cannot be read: ${reasonOf(error)}`)
  }
}

// Reads the float weights of a published Whisper model by name, from Hugging Face's safetensors file, or from the ONNX
// files of onnx-community and optimum. The graphs in the ONNX files are not used.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mapFile } from '../../base/map-file.ts'
import { type RawConstant, readModel } from '../onnx/weights.ts'
import { headerOf } from './tensor-file.ts'

/**
 * The tensors of a model: for each name, a function that reads the tensor as 32-bit floats. A matrix is outputs ×
 * inputs, as in Hugging Face's files. Each name begins with `encoder.` or `decoder.`.
 */
export type Source = Map<string, () => Float32Array>

/**
 * A tensor as a file stores it. The file is mapped into memory. A matrix is outputs × inputs if `transposed` is false,
 * and inputs × outputs if it is true.
 */
export type Weight = {
  type: 'F32' | 'F16' | 'BF16'
  dims: readonly number[]
  bytes: Uint8Array
  transposed: boolean
}

/** The weights of a model: for each name, a function that finds the weight in its file. */
export type FloatWeights = Map<string, () => Weight>

/** The suffix of the names of ONNX files with float weights: '' for 32 bits, '_fp16' for 16 bits. */
export type FloatVariant = '' | '_fp16'

export function openSource(folder: string, variant: FloatVariant = ''): Source {
  return new Map([...openWeights(folder, variant)].map(([name, find]) => [name, () => floatsOf(find())]))
}

/**
 * Returns the float weights of the model in the folder. `variant` is the suffix of the ONNX files. `variant` has no
 * effect if the folder has the file model.safetensors.
 */
export function openWeights(folder: string, variant: FloatVariant = ''): FloatWeights {
  const published = join(folder, 'model.safetensors')
  if (existsSync(published)) return fromSafetensors(published)
  return new Map([
    ...fromOnnx(join(folder, 'onnx'), `encoder_model${variant}.onnx`, 'encoder'),
    ...fromOnnx(join(folder, 'onnx'), `decoder_model_merged${variant}.onnx`, 'decoder'),
  ])
}

const readers = {
  F32: (bytes: Uint8Array) => new Float32Array(bytes.slice().buffer),
  F16: (bytes: Uint8Array) => Float32Array.from(new Float16Array(bytes.slice().buffer)),
  BF16: (bytes: Uint8Array) =>
    new Float32Array(Uint32Array.from(new Uint16Array(bytes.slice().buffer), bits => bits << 16).buffer),
} as const satisfies Record<Weight['type'], (bytes: Uint8Array) => Float32Array>

function floatsOf({ type, dims, bytes, transposed: isTransposed }: Weight): Float32Array {
  const floats = readers[type](bytes)
  return isTransposed ? transposed(floats, dims) : floats
}

function fromSafetensors(path: string): FloatWeights {
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
        const find = () => ({
          type,
          dims,
          bytes: bytes.subarray(start + from, start + to),
          transposed: false,
        })
        return [[plain, find]]
      },
    ),
  )
}

function isFloat(type: string): type is Weight['type'] {
  return type in readers
}

/** The float types of ONNX files, by their numbers in such a file. */
const onnxTypes: Partial<Record<number, Weight['type']>> = { 1: 'F32', 10: 'F16', 16: 'BF16' }

function fromOnnx(folder: string, file: string, half: 'encoder' | 'decoder'): FloatWeights {
  const { constants, operations } = readModel(mapFile(join(folder, file)))
  const weights: FloatWeights = new Map()
  const weightOf = ({ type: id, dims, bytes, stored }: RawConstant, transposed: boolean): Weight => {
    const type = onnxTypes[id]
    if (!type) throw new Error(`${file} has weights of type ${id}, which are not floats`)
    if (bytes) return { type, dims, bytes, transposed }
    if (!stored) throw new Error(`${file} has a weight without bytes`)
    const all = mapFile(join(folder, stored.file))
    return { type, dims, bytes: all.subarray(stored.from, stored.from + stored.bytes), transposed }
  }
  for (const [name, constant] of constants) {
    const plain = plainName(name.replace(/_merged_\d+$/, ''), half)
    if (plain && constant.dims.length > 0) weights.set(plain, () => weightOf(constant, false))
  }
  // In an ONNX file, the name of a matrix does not say to which layer the matrix belongs. The name of the MatMul
  // operation that reads the matrix says this. The matrix is the second input of this operation.
  for (const { name, kind, inputs } of operations) {
    const constant = kind === 'MatMul' ? constants.get(inputs[1] ?? '') : undefined
    const plain = plainName(
      name
        .slice(1)
        .replaceAll('/', '.')
        .replace(/\.MatMul$/, '.weight'),
      half,
    )
    if (constant && plain?.endsWith('.weight')) weights.set(plain, () => weightOf(constant, true))
  }
  return weights
}

/**
 * Returns the name of a weight as Hugging Face's files have it: `decoder.layers.0.fc1.weight` for
 * `model.decoder.layers.0.fc1.weight`. `half` is `encoder` or `decoder`; by default, it is read from the name. Returns
 * null if the tensor is not a weight or bias of the network.
 */
function plainName(name: string, half = /(?:^|\.)(encoder|decoder)\./.exec(name)?.[1]): string | null {
  const parts =
    /(?:^|\.)((?:layers\.\d+\.|embed_tokens\.|embed_positions\.|conv[12]\.|layer_norm\.).*(?:weight|bias))$/
  const match = parts.exec(name)
  return match && half ? `${half}.${match[1]}` : null
}

export function transposed(matrix: Float32Array, [rows = 0, columns = 0]: readonly number[]): Float32Array {
  const turned = new Float32Array(matrix.length)
  const tile = 32
  for (let top = 0; top < rows; top += tile) {
    for (let left = 0; left < columns; left += tile) {
      for (let row = top; row < Math.min(top + tile, rows); row++) {
        for (let column = left; column < Math.min(left + tile, columns); column++) {
          turned[column * rows + row] = matrix[row * columns + column]!
        }
      }
    }
  }
  return turned
}

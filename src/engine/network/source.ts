// Reads the float weights of a published Whisper model by name. The files are Hugging Face's safetensors, or
// the ONNX files of onnx-community and optimum. From ONNX files only the weights are used, not the graphs.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type RawConstant, readModel } from '../onnx/weights.ts'
import { headerOf } from './tensor-file.ts'

/**
 * Functions that read a tensor, by the tensor's name. The layout is that of Hugging Face: a matrix is outputs
 * × inputs. Each name begins with `encoder.` or `decoder.`.
 */
export type Source = Map<string, () => Float32Array>

export function openSource(folder: string): Source {
  const published = join(folder, 'model.safetensors')
  if (existsSync(published)) return fromSafetensors(published)
  const source: Source = new Map()
  for (const [half, file] of [
    ['encoder', 'encoder_model.onnx'],
    ['decoder', 'decoder_model_merged.onnx'],
  ] as const) {
    for (const [name, read] of fromOnnx(join(folder, 'onnx'), file, half)) source.set(name, read)
  }
  return source
}

const readers: Record<string, (bytes: Uint8Array) => Float32Array> = {
  F32: bytes => new Float32Array(bytes.slice().buffer),
  F16: bytes => Float32Array.from(new Float16Array(bytes.slice().buffer)),
  BF16: bytes =>
    new Float32Array(Uint32Array.from(new Uint16Array(bytes.slice().buffer), bits => bits << 16).buffer),
}

function fromSafetensors(path: string): Source {
  const { header, from: start } = headerOf(path)
  const bytes = Bun.mmap(path)
  return new Map(
    Object.entries(header).flatMap(
      ([
        name,
        {
          dtype,
          data_offsets: [from, to],
        },
      ]) => {
        const read = readers[dtype]
        const plain = plainName(name)
        return read && plain ? [[plain, () => read(bytes.subarray(start + from, start + to))]] : []
      },
    ),
  )
}

/** The tensor types of ONNX, by their numbers. */
const onnxTypes: Record<number, string> = { 1: 'F32', 10: 'F16', 16: 'BF16' }

function fromOnnx(folder: string, file: string, half: 'encoder' | 'decoder'): Source {
  const { constants, operations } = readModel(Bun.mmap(join(folder, file)))
  const source: Source = new Map()
  const floats = ({ type, bytes, stored }: RawConstant) => {
    const read = readers[onnxTypes[type] ?? '']
    if (!read) throw new Error(`${file} has weights of type ${type}, which are not floats`)
    if (bytes) return read(bytes)
    if (!stored) throw new Error(`${file} has a weight without bytes`)
    return read(Bun.mmap(join(folder, stored.file)).subarray(stored.from, stored.from + stored.bytes))
  }
  for (const [name, constant] of constants) {
    const plain = plainName(name.replace(/_merged_\d+$/, ''), half)
    if (plain && constant.dims.length > 0) source.set(plain, () => floats(constant))
  }
  // The names of the matrices do not say the layer. But the name of each MatMul operation says its layer, and the
  // second input of the operation is the matrix.
  for (const { name, kind, inputs } of operations) {
    const constant = kind === 'MatMul' ? constants.get(inputs[1] ?? '') : undefined
    const plain = plainName(
      name
        .slice(1)
        .replaceAll('/', '.')
        .replace(/\.MatMul$/, '.weight'),
      half,
    )
    if (constant && plain?.endsWith('.weight'))
      source.set(plain, () => transposed(floats(constant), constant.dims))
  }
  return source
}

/**
 * Returns the name in the layout of Hugging Face: `decoder.layers.0.fc1.weight` for
 * `model.decoder.layers.0.fc1.weight`. Returns null for a tensor that is not a weight or bias of a layer.
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

// The float weights of a Whisper model, as its files store them.

import { elementsIn } from '../onnx/elements.ts'

/** A tensor as a file stores it. A matrix is outputs × inputs, or inputs × outputs if `transposed` is true. */
export type Weight = {
  type: 'F32' | 'F16' | 'BF16'
  dims: readonly number[]
  bytes: Uint8Array
  transposed: boolean
}

/** The weights of a model: for each name, a function that finds the weight in its file. */
export type FloatWeights = Map<string, () => Weight>

const readers = {
  F32: (bytes: Uint8Array) => new Float32Array(bytes.slice().buffer),
  F16: (bytes: Uint8Array) => Float32Array.from(new Float16Array(bytes.slice().buffer)),
  BF16: (bytes: Uint8Array) =>
    new Float32Array(Uint32Array.from(new Uint16Array(bytes.slice().buffer), bits => bits << 16).buffer),
} as const satisfies Record<Weight['type'], (bytes: Uint8Array) => Float32Array>

export function floatsOf({ type, dims, bytes, transposed: isTransposed }: Weight): Float32Array {
  const floats = readers[type](bytes)
  return isTransposed ? transposed(floats, dims) : floats
}

/** The number of bytes of one element of each type. */
const elementBytes = { F32: 4, F16: 2, BF16: 2 } as const satisfies Record<Weight['type'], number>

/** Returns the number of bytes of a weight with these dimensions. */
export function bytesIn(type: Weight['type'], dims: readonly number[]): number {
  return elementBytes[type] * elementsIn(dims)
}

/** Returns the weight. Throws an error if its content has another length than its dimensions say. */
export function withCheckedLength(name: string, weight: Weight): Weight {
  const [found, needed] = [weight.bytes.length, bytesIn(weight.type, weight.dims)]
  if (found !== needed) throw new Error(`the weight ${name} has ${found} bytes instead of ${needed}`)
  return weight
}

export function isFloat(type: string): type is Weight['type'] {
  return type in readers
}

/**
 * Converts the name of a weight in a file to a name that begins with `encoder.` or `decoder.`, such as
 * `decoder.layers.0.fc1.weight`. `half` is `encoder` or `decoder`. If `half` is missing, it comes from the name in the
 * file. Returns null if the tensor is not a weight or bias of the network, or if `half` is not known.
 */
export function plainName(name: string, half = /(?:^|\.)(encoder|decoder)\./.exec(name)?.[1]): string | null {
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

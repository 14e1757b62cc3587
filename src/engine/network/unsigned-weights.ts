// Reads the signed weights of the encoder as unsigned bytes, for CPUs that do not add products of unsigned and signed
// bytes exactly (see onnx/byte-products.ts). The products of two unsigned bytes are exact on every CPU. ONNX Runtime
// can convert the weights itself (`exactBytesKey`), but it then needs 0.65 instead of 0.45 s to open the encoder of the
// built-in model.

import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { readAt } from '../../base/read-at.ts'
import type { Stored } from '../onnx/messages.ts'

/** The byte that represents 0 in unsigned weights. */
export const unsignedZero = 128

/** Reads a matrix of signed bytes, and adds `unsignedZero` to each of them. `folder` is the folder of its file. */
export function readUnsigned(folder: string, { file: name, from, bytes }: Stored): Uint8Array {
  const file = openSync(join(folder, name), 'r')
  try {
    const weights = readAt(file, from, bytes)
    if (weights.length < bytes) throw new Error(`${name} is too short`)
    for (let index = 0; index < bytes; index++) weights[index]! ^= unsignedZero
    return weights
  } finally {
    closeSync(file)
  }
}

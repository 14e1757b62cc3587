// Reads the signed weights of the encoder as unsigned bytes, for CPUs that do not add products of unsigned and signed
// bytes exactly (see onnx/byte-products.ts). The products of two unsigned bytes are exact on every CPU. ONNX Runtime
// can convert the weights itself (`exactBytesKey`), but it then needs 0.65 instead of 0.45 s to open the encoder of the
// built-in model.

import type { Stored } from '../onnx/messages.ts'
import { readTensor } from './tensor-file.ts'

/** The byte that represents 0 in unsigned weights. It is added to each signed weight. */
export const unsignedZero = 128

/** Four signed bytes, with `unsignedZero` added to each of them by one operation. */
const flipped = 0x80808080

/** Reads a matrix of signed bytes, and adds `unsignedZero` to each of them. `folder` is the folder of its file. */
export function readUnsigned(folder: string, stored: Stored): Uint8Array {
  const bytes = readTensor(folder, stored)
  const fours = new Uint32Array(bytes.buffer, 0, Math.floor(bytes.length / 4))
  for (let index = 0; index < fours.length; index++) fours[index]! ^= flipped
  for (let index = 4 * fours.length; index < bytes.length; index++) bytes[index]! ^= unsignedZero
  return bytes
}

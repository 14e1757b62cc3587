// Quantises float matrices to 8 bits. The encoder and the decoder use different operations of ONNX Runtime, each with
// its own layout. For MatMulIntegerToFloat (encoder), a matrix is inputs × outputs, with one scale for each output. For
// MatMulNBits (decoder), a matrix is outputs × inputs, with one scale for each block of 64 inputs.

import type { Draft } from './tensor-file.ts'

export const blockSize = 64

export type Matrix = { data: Float32Array; outputs: number; inputs: number }
/**
 * A function that quantises a float matrix. The function returns two tensors that will be written to a file: the bytes
 * of the matrix, and its scales.
 */
export type Layout = (
  name: string,
  matrix: () => Matrix,
  dims: { outputs: number; inputs: number },
) => Draft[]

/** Quantises a matrix in the layout of the encoder: inputs × outputs, with one scale for each output. */
export const byOutput: Layout = (name, matrix, { outputs, inputs }) => {
  const scalesOf = ({ data }: Matrix) => scales(data, inputs, Float32Array)
  const make = () => {
    const floats = matrix()
    const steps = scalesOf(floats)
    const bytes = new Int8Array(floats.data.length)
    for (let output = 0; output < outputs; output++) {
      const step = steps[output]!
      for (let input = 0; input < inputs; input++) {
        bytes[input * outputs + output] = Math.round(floats.data[output * inputs + input]! / step)
      }
    }
    return bytes
  }
  return [
    { name: `${name}.weight`, kind: 'I8', dims: [inputs, outputs], make },
    { name: `${name}.scale`, kind: 'F32', dims: [outputs], make: () => scalesOf(matrix()) },
  ]
}

/** Quantises a matrix in the layout of the decoder: outputs × blocks × inputs of a block. The byte 128 represents 0. */
export const byBlock: Layout = (name, matrix, { outputs, inputs }) => {
  const scalesOf = ({ data }: Matrix) => scales(data, blockSize, Float16Array)
  const make = () => {
    const floats = matrix()
    const steps = scalesOf(floats)
    const bytes = new Uint8Array(floats.data.length)
    for (let block = 0; block < steps.length; block++) {
      const step = steps[block]!
      for (let at = block * blockSize; at < (block + 1) * blockSize; at++) {
        const rounded = Math.round(floats.data[at]! / step)
        bytes[at] = 128 + Math.max(-127, Math.min(127, rounded))
      }
    }
    return bytes
  }
  const blocks = inputs / blockSize
  return [
    { name: `${name}.weight`, kind: 'U8', dims: [outputs, blocks, blockSize], make },
    { name: `${name}.scale`, kind: 'F16', dims: [outputs, blocks], make: () => scalesOf(matrix()) },
  ]
}

/** Returns the quantisation scales of the values. Each group of `group` consecutive values has one scale. */
function scales<T extends Float32Array | Float16Array>(
  data: Float32Array,
  group: number,
  Kind: new (length: number) => T,
): T {
  const found = new Kind(data.length / group)
  for (let index = 0; index < found.length; index++) {
    let largest = 0
    for (let at = index * group; at < (index + 1) * group; at++)
      largest = Math.max(largest, Math.abs(data[at]!))
    found[index] = largest / 127 || 1
  }
  return found
}

// Finds the weight matrices of a model that consist of unsigned bytes. signed-weights.ts changes them to signed bytes,
// because ONNX Runtime needs twice the time for unsigned bytes.

import { elements } from './elements.ts'
import { type Operation, readModel } from './weights.ts'

/** The indices of two inputs of the operation MatMulInteger: the weight matrix and its zero point. */
const inputs = { matrix: 1, zero: 3 } as const

/**
 * Returns the names of the unsigned weight matrices and of their zero points. The result is empty if they cannot be
 * changed to signed bytes, in each of these cases:
 * - A matrix is unsigned and its zero point is not, or the zero point is unsigned and the matrix is not.
 * - The content of a matrix or of a zero point is in another file.
 * - The model stores the content of a matrix as a protobuf list of integers, and not as bytes.
 * - An operation reads one of these constants in another way, not as the matrix or the zero point of a MatMulInteger.
 */
export function unsignedNames(model: Uint8Array): Set<string> {
  const { constants, operations } = readModel(model)
  const names = new Set<string>()
  const add = (name: string) => {
    if (constants.get(name)?.type === elements.uint8.id) names.add(name)
    return names.has(name)
  }
  for (const operation of operations.filter(isProduct)) {
    const [matrix = '', zero = ''] = [operation.inputs[inputs.matrix], operation.inputs[inputs.zero]]
    const changes = [matrix, zero].map(add)
    const isComplete = !changes[0] || (constants.get(matrix)?.bytes && !constants.get(zero)?.stored)
    if (changes[0] !== changes[1] || !isComplete) return new Set()
  }
  const isOther = (operation: Operation) =>
    operation.inputs.some((name, index) => {
      const isWeight = isProduct(operation) && (index === inputs.matrix || index === inputs.zero)
      return names.has(name) && !isWeight
    })
  return operations.some(isOther) ? new Set() : names
}

function isProduct({ kind }: Operation): boolean {
  return kind === 'MatMulInteger'
}

// Changes weight matrices from unsigned to signed bytes. The VNNI instructions of a CPU multiply unsigned activations
// by signed weights. ONNX Runtime needs twice the time for unsigned weights. 128 is subtracted from the weights and
// their zero points, so the products stay exactly the same.

import { elements } from './elements.ts'
import { fieldHeader, number } from './protobuf.ts'
import { fieldsOf, numbersOf, text, walk } from './protobuf-reader.ts'
import { unsignedNames } from './unsigned-matrices.ts'

/** The numbers of the protobuf fields in an ONNX model that this code reads or writes. */
const fields = { graph: 7, initializer: 5, type: 2, integers: 5, name: 8, raw: 9 } as const
/** The number that is subtracted from an unsigned byte (0 to 255), so that it fits into a signed byte (-128 to 127). */
const shift = 128

/**
 * Consecutive bytes of the model that `withSignedWeights` writes. If `flips` is true, they are still unsigned, and
 * become signed when they are written. Such bytes are weights or zero points (the bytes that stand for 0).
 */
type Part = { bytes: Uint8Array; flips: boolean }

/**
 * Changes the weights of a model to signed bytes, in the memory of `model`: a copy could need hundreds of megabytes.
 * The parts of the result are written over the old model, from its start, while the later parts are still in it. This
 * is safe because no field becomes longer, so no part is written over a later part. Returns `model` unchanged if its
 * weights cannot be changed.
 */
export function withSignedWeights(model: Uint8Array): Uint8Array {
  const names = unsignedNames(model)
  if (names.size === 0) return model
  const parts: Part[] = []
  walk(model, (id, value, field) => {
    if (id !== fields.graph || typeof value === 'number') return parts.push(keep(field))
    const inner = graphParts(value, names)
    return parts.push(keep(fieldHeader(id, lengthOf(inner))), ...inner)
  })
  let at = 0
  for (const { bytes, flips } of parts) {
    model.set(bytes, at)
    const end = at + bytes.length
    if (flips) for (let index = at; index < end; index++) model[index]! ^= shift
    at = end
  }
  return model.subarray(0, at)
}

function keep(bytes: Uint8Array): Part {
  return { bytes, flips: false }
}

function lengthOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

function graphParts(graph: Uint8Array, names: ReadonlySet<string>): Part[] {
  const parts: Part[] = []
  walk(graph, (id, value, field) => {
    const isNamed =
      id === fields.initializer &&
      typeof value !== 'number' &&
      names.has(fieldsOf(value, fields.name).map(text).join())
    if (!isNamed) return parts.push(keep(field))
    const inner = tensorParts(value)
    return parts.push(keep(fieldHeader(id, lengthOf(inner))), ...inner)
  })
  return parts
}

/**
 * Divides an ONNX tensor of unsigned bytes into parts, so that it can be written as a tensor of signed bytes. The part
 * with `flips: true` has the values, one byte for each. This is so even if the tensor stores its values as a list of
 * integers. `withSignedWeights` changes these bytes to signed bytes. The other parts have the other protobuf fields. Of
 * these fields, only the data type is changed: it becomes `int8`.
 */
function tensorParts(tensor: Uint8Array): Part[] {
  const listed = Uint8Array.from(numbersOf(tensor, fields.integers))
  const parts: Part[] = []
  const addBytes = (bytes: Uint8Array) =>
    parts.push(keep(fieldHeader(fields.raw, bytes.length)), { bytes, flips: true })
  walk(tensor, (id, value, field) => {
    if (id === fields.type) parts.push(keep(number(fields.type, elements.int8.id)))
    else if (id === fields.raw && typeof value !== 'number') addBytes(value)
    else if (id !== fields.integers) parts.push(keep(field))
  })
  if (listed.length > 0) addBytes(listed)
  return parts
}

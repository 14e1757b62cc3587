// Encodes the parts of an ONNX model as protobuf messages: operations, attributes, constants, inputs and outputs.

import { type ElementType, elements } from './elements.ts'
import { field, fieldOfParts, floatBytes, number, utf8 } from './protobuf.ts'

export type Constant = {
  dims: readonly number[]
  data: Float32Array | Float16Array | BigInt64Array | Int8Array | Uint8Array
}
/** A constant whose content is in the external file `file`: `bytes` bytes from the offset `from`. */
export type Stored = { type: ElementType; dims: readonly number[]; file: string; from: number; bytes: number }
/**
 * An attribute of an operation. A `Branch` is a nested graph, such as a branch of an `If` operation. The operations in
 * a nested graph can also use the values of the outer graph.
 */
export type Attribute = number | readonly number[] | string | { float: number } | Branch
type Branch = { body(): Uint8Array }
export type Shape = readonly (number | string)[]

/** The domain of the operations that exist only in ONNX Runtime. */
export const runtimeDomain = 'com.microsoft'
/** The domain of steno's own operations (see operators.ts). */
export const ownDomain = 'steno'

export function node(
  operation: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Record<string, Attribute>,
  name: string,
): Uint8Array {
  return Buffer.concat([
    ...inputs.map(name => field(1, utf8(name))),
    ...outputs.map(name => field(2, utf8(name))),
    ...(name === '' ? [] : [field(3, utf8(name))]),
    ...operationOf(operation),
    ...Object.entries(attributes).map(([name, value]) => field(5, attribute(name, value))),
  ])
}

function operationOf(operation: string): Uint8Array[] {
  const domain = [runtimeDomain, ownDomain].find(each => operation.startsWith(`${each}.`))
  if (domain === undefined) return [field(4, utf8(operation))]
  return [field(4, utf8(operation.slice(domain.length + 1))), field(7, utf8(domain))]
}

function attribute(name: string, value: Attribute): Uint8Array {
  const kind = { float: 1, int: 2, string: 3, graph: 5, ints: 7 }
  const label = field(1, utf8(name))
  if (typeof value === 'number') return Buffer.concat([label, number(3, value), number(20, kind.int)])
  if (typeof value === 'string') return Buffer.concat([label, field(4, utf8(value)), number(20, kind.string)])
  if ('body' in value) return Buffer.concat([label, field(6, value.body()), number(20, kind.graph)])
  if ('float' in value) {
    return Buffer.concat([
      label,
      Uint8Array.of((2 << 3) | 5),
      floatBytes(value.float),
      number(20, kind.float),
    ])
  }
  return Buffer.concat([label, ...value.map(item => number(8, item)), number(20, kind.ints)])
}

/**
 * Returns the bytes of a constant (a TensorProto of ONNX) in several pieces. The bytes of `data` are not copied,
 * because a copy of a large constant takes long.
 */
export function tensor(name: string, dims: readonly number[], data: Constant['data']): Uint8Array[] {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return [
    ...dims.map(size => number(1, size)),
    number(2, elements[typeOf(data)].id),
    field(8, utf8(name)),
    ...fieldOfParts(9, [raw]),
  ]
}

function typeOf(data: Constant['data']): ElementType {
  if (data instanceof Float32Array) return 'float32'
  if (data instanceof Float16Array) return 'float16'
  if (data instanceof BigInt64Array) return 'int64'
  return data instanceof Int8Array ? 'int8' : 'uint8'
}

export function port(name: string, type: ElementType, shape: Shape): Uint8Array {
  const dims = shape.map(size => field(1, typeof size === 'number' ? number(1, size) : field(2, utf8(size))))
  const kind = Buffer.concat([number(1, elements[type].id), field(2, Buffer.concat(dims))])
  return Buffer.concat([field(1, utf8(name)), field(2, field(1, kind))])
}

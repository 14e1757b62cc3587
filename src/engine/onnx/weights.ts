// Reads the constants and the operations of an ONNX model. graph.ts writes ONNX models.

import type { Constant } from './graph.ts'

export type Weights = Map<string, Constant & { data: Float32Array }>

/**
 * A constant as the model stores it. `type` is the number of its element type in ONNX Runtime's C API. `bytes` is the
 * content of the constant. If `bytes` is null, the content is in an external file, and `stored` is its place in this
 * file.
 */
export type RawConstant = {
  type: number
  dims: number[]
  bytes: Uint8Array | null
  stored: { file: string; from: number; bytes: number } | null
}
export type Operation = { name: string; kind: string; inputs: string[]; outputs: string[] }
export type Model = { constants: Map<string, RawConstant>; operations: Operation[] }

/**
 * Returns all constants and operations of a model, including those in branches of the graph. The content of the
 * constants is not copied.
 */
export function readModel(model: Uint8Array): Model {
  const found: Model = { constants: new Map(), operations: [] }
  for (const graph of fieldsOf(model, 7)) readGraph(graph, found)
  return found
}

/**
 * Returns all constants with 32-bit floats, by name, including those in branches of the graph. Constants in external
 * files are left out.
 */
export function readWeights(model: Uint8Array): Weights {
  const isFloat = 1
  const weights: Weights = new Map()
  for (const [name, { type, dims, bytes }] of readModel(model).constants) {
    if (type === isFloat && bytes) weights.set(name, { dims, data: new Float32Array(bytes.slice().buffer) })
  }
  return weights
}

function readGraph(graph: Uint8Array, found: Model): void {
  for (const initializer of fieldsOf(graph, 5)) {
    const [name] = fieldsOf(initializer, 8)
    if (name) found.constants.set(text(name), readTensor(initializer))
  }
  for (const node of fieldsOf(graph, 1)) {
    const [output] = fieldsOf(node, 2)
    found.operations.push({
      name: fieldsOf(node, 3).map(text).join(),
      kind: fieldsOf(node, 4).map(text).join(),
      inputs: fieldsOf(node, 1).map(text),
      outputs: fieldsOf(node, 2).map(text),
    })
    for (const attribute of fieldsOf(node, 5)) {
      const [tensor] = fieldsOf(attribute, 5)
      if (tensor && output) found.constants.set(text(output), readTensor(tensor))
      for (const branch of fieldsOf(attribute, 6)) readGraph(branch, found)
    }
  }
}

function readTensor(tensor: Uint8Array): RawConstant {
  const [type = 0] = numbersOf(tensor, 2)
  const [bytes = null] = fieldsOf(tensor, 9)
  const entries = fieldsOf(tensor, 13).map(entry => [1, 2].map(id => fieldsOf(entry, id).map(text).join()))
  const place = new Map(entries as [string, string][])
  const file = place.get('location')
  const stored =
    file === undefined
      ? null
      : { file, from: Number(place.get('offset') ?? 0), bytes: Number(place.get('length')) }
  return { type, dims: numbersOf(tensor, 1), bytes, stored }
}

export function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

/** Returns the content of each protobuf field with the number `wanted`. */
export function fieldsOf(message: Uint8Array, wanted: number): Uint8Array[] {
  const found: Uint8Array[] = []
  walk(message, (id, value) => {
    if (id === wanted && typeof value !== 'number') found.push(value)
  })
  return found
}

/**
 * Returns the integers of a repeated protobuf field with the number `wanted`. The integers may be in one packed field
 * or in several fields.
 */
export function numbersOf(message: Uint8Array, wanted: number): number[] {
  const found: number[] = []
  walk(message, (id, value) => {
    if (id !== wanted) return
    if (typeof value === 'number') found.push(value)
    else for (let at = 0; at < value.length; ) at = varint(value, at, number => found.push(number))
  })
  return found
}

/**
 * Calls `visit` for each protobuf field of the message, with the number of the field, its value, and its bytes
 * including the key.
 */
export function walk(
  message: Uint8Array,
  visit: (id: number, value: number | Uint8Array, field: Uint8Array) => void,
): void {
  const fixedBytes: Record<number, number> = { 1: 8, 5: 4 }
  for (let at = 0; at < message.length; ) {
    const start = at
    let key = 0
    at = varint(message, at, number => {
      key = number
    })
    const kind = key & 7
    if (kind === 0) {
      let value = 0
      at = varint(message, at, number => {
        value = number
      })
      visit(key >>> 3, value, message.subarray(start, at))
      continue
    }
    let length = fixedBytes[kind] ?? -1
    if (kind === 2) {
      at = varint(message, at, number => {
        length = number
      })
    }
    if (length < 0 || at + length > message.length) throw new Error('this is not an ONNX model')
    at += length
    visit(key >>> 3, message.subarray(at - length, at), message.subarray(start, at))
  }
}

/**
 * Reads a varint (an integer in groups of seven bits) at offset `from`. Passes its value to `take`. Returns the offset
 * after the varint.
 */
function varint(bytes: Uint8Array, from: number, take: (value: number) => void): number {
  let value = 0
  for (let at = from, scale = 1; at < bytes.length; at++, scale *= 128) {
    value += (bytes[at]! & 127) * scale
    if (bytes[at]! < 128) {
      take(value)
      return at + 1
    }
  }
  throw new Error('this is not an ONNX model')
}

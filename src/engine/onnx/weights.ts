// Reads the constants and the operations from the bytes of an ONNX model.

import type { Constant } from './messages.ts'
import { fieldsOf, numbersOf, text } from './protobuf-reader.ts'

export type Weights = Map<string, Constant & { data: Float32Array }>

/**
 * A constant as the model stores it. `bytes` is the content, if the model contains it as bytes. `stored` is the place
 * of the content, if it is in an external file. Both are null if the model contains the content as a list of numbers,
 * which steno does not read. `stored.bytes` is null if the model does not say the length of the content. This length
 * then follows from `type` and `dims`.
 */
export type RawConstant = {
  type: number
  dims: number[]
  bytes: Uint8Array | null
  stored: { file: string; from: number; bytes: number | null } | null
}
export type Operation = { name: string; kind: string; inputs: string[]; outputs: string[] }
export type Model = { constants: Map<string, RawConstant>; operations: Operation[] }

/**
 * Returns all constants and operations of a model, also those in branches of the graph. The `bytes` of a constant are a
 * part of the memory of `model`.
 */
export function readModel(model: Uint8Array): Model {
  const operations: Operation[] = []
  for (const graph of fieldsOf(model, fields.graph)) readOperations(graph, operations)
  return { constants: readConstants(model), operations }
}

/**
 * Returns the constants whose values are 32-bit floats, by name. A model can store the content of a constant as bytes,
 * as a protobuf list of numbers, or in another file. Only the constants that are stored as bytes are returned.
 */
export function readWeights(model: Uint8Array): Weights {
  const isFloat = 1
  const weights: Weights = new Map()
  for (const [name, { type, dims, bytes }] of readConstants(model)) {
    if (type === isFloat && bytes) weights.set(name, { dims, data: new Float32Array(bytes.slice().buffer) })
  }
  return weights
}

/**
 * The ids of protobuf fields in an ONNX file. A model has a `graph`. A graph has initializers (stored tensors) and
 * nodes (operations). A node has attributes. An attribute may have a `tensor`, or a graph of its own (`branch`).
 */
const fields = { graph: 7, initializer: 5, node: 1, attribute: 5, tensor: 5, branch: 6 } as const

function readConstants(model: Uint8Array): Model['constants'] {
  const constants: Model['constants'] = new Map()
  for (const graph of fieldsOf(model, fields.graph)) addConstants(graph, constants)
  return constants
}

function addConstants(graph: Uint8Array, constants: Model['constants']): void {
  for (const initializer of fieldsOf(graph, fields.initializer)) {
    const [name] = fieldsOf(initializer, 8)
    if (name) constants.set(text(name), readTensor(initializer))
  }
  for (const node of fieldsOf(graph, fields.node)) {
    for (const attribute of fieldsOf(node, fields.attribute)) {
      const [output] = fieldsOf(node, 2)
      const [tensor] = fieldsOf(attribute, fields.tensor)
      if (tensor && output) constants.set(text(output), readTensor(tensor))
      for (const branch of fieldsOf(attribute, fields.branch)) addConstants(branch, constants)
    }
  }
}

function readOperations(graph: Uint8Array, operations: Operation[]): void {
  for (const node of fieldsOf(graph, fields.node)) {
    operations.push({
      name: fieldsOf(node, 3).map(text).join(),
      kind: fieldsOf(node, 4).map(text).join(),
      inputs: fieldsOf(node, 1).map(text),
      outputs: fieldsOf(node, 2).map(text),
    })
    for (const attribute of fieldsOf(node, fields.attribute))
      for (const branch of fieldsOf(attribute, fields.branch)) readOperations(branch, operations)
  }
}

function readTensor(tensor: Uint8Array): RawConstant {
  const [type = 0] = numbersOf(tensor, 2)
  const [bytes = null] = fieldsOf(tensor, 9)
  const entries = fieldsOf(tensor, 13).map(entry => [1, 2].map(id => fieldsOf(entry, id).map(text).join()))
  const place = new Map(entries as [string, string][])
  const file = place.get('location')
  const length = place.get('length')
  const stored =
    file === undefined
      ? null
      : { file, from: Number(place.get('offset') ?? 0), bytes: length === undefined ? null : Number(length) }
  return { type, dims: numbersOf(tensor, 1), bytes, stored }
}

// Reads the float constants of an ONNX model by name. This is the inverse of graph.ts.

import type { Constant } from './graph.ts'

export type Weights = Map<string, Constant & { data: Float32Array }>

/** Returns every float constant of the model and of its branches, by name. */
export function readWeights(model: Uint8Array): Weights {
  const weights: Weights = new Map()
  for (const graph of fieldsOf(model, 7)) readGraph(graph, weights)
  return weights
}

function readGraph(graph: Uint8Array, weights: Weights): void {
  for (const initializer of fieldsOf(graph, 5)) {
    const [name] = fieldsOf(initializer, 8)
    if (name) readTensor(text(name), initializer, weights)
  }
  for (const node of fieldsOf(graph, 1)) {
    const [output] = fieldsOf(node, 2)
    for (const attribute of fieldsOf(node, 5)) {
      const [tensor] = fieldsOf(attribute, 5)
      if (tensor && output) readTensor(text(output), tensor, weights)
      for (const branch of fieldsOf(attribute, 6)) readGraph(branch, weights)
    }
  }
}

function readTensor(name: string, tensor: Uint8Array, weights: Weights): void {
  const [raw] = fieldsOf(tensor, 9)
  const isFloat = 1
  if (!raw || numbersOf(tensor, 2)[0] !== isFloat) return
  weights.set(name, { dims: numbersOf(tensor, 1), data: new Float32Array(raw.slice().buffer) })
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

/** Returns the bytes of each field with this number. */
function fieldsOf(message: Uint8Array, wanted: number): Uint8Array[] {
  const found: Uint8Array[] = []
  walk(message, (id, value) => {
    if (id === wanted && typeof value !== 'number') found.push(value)
  })
  return found
}

/** Returns the numbers of a repeated field, packed or not. */
function numbersOf(message: Uint8Array, wanted: number): number[] {
  const found: number[] = []
  walk(message, (id, value) => {
    if (id !== wanted) return
    if (typeof value === 'number') found.push(value)
    else for (let at = 0; at < value.length; ) at = varint(value, at, number => found.push(number))
  })
  return found
}

function walk(message: Uint8Array, visit: (id: number, value: number | Uint8Array) => void): void {
  const fixedBytes: Record<number, number> = { 1: 8, 5: 4 }
  for (let at = 0; at < message.length; ) {
    let key = 0
    at = varint(message, at, number => {
      key = number
    })
    const kind = key & 7
    if (kind === 0) {
      at = varint(message, at, number => visit(key >>> 3, number))
      continue
    }
    let length = fixedBytes[kind] ?? -1
    if (kind === 2) {
      at = varint(message, at, number => {
        length = number
      })
    }
    if (length < 0 || at + length > message.length) throw new Error('this is not an ONNX model')
    visit(key >>> 3, message.subarray(at, at + length))
    at += length
  }
}

/** Reads a varint and returns the offset after it. */
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

// Reads fields of protobuf messages.

export function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

/** Returns the content of each field with the number `wanted`. */
export function fieldsOf(message: Uint8Array, wanted: number): Uint8Array[] {
  const found: Uint8Array[] = []
  walk(message, (id, value) => {
    if (id === wanted && typeof value !== 'number') found.push(value)
  })
  return found
}

/** Returns the integers of a repeated field. The integers may be in one packed field or in several fields. */
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
 * Calls `visit` for each field of the protobuf message, with the number and the value of the field, and with all bytes
 * of the field. These bytes begin with the key (the field number and the wire type).
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

/** Reads a varint (groups of seven bits) at offset `from`, and passes its value to `take`. Returns the next offset. */
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

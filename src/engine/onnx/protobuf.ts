// Writes fields of protobuf messages. A field begins with a key, which has the field number and the wire type. Next is
// a varint (groups of seven bits), or a length and that number of bytes.

export function number(id: number, value: number): Uint8Array {
  return Buffer.concat([varint(id << 3), varint(value)])
}

export function field(id: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat(fieldOfParts(id, [bytes]))
}

/** Returns a field whose content is the given parts, one after the other. The parts are not copied. */
export function fieldOfParts(id: number, parts: readonly Uint8Array[]): Uint8Array[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return [fieldHeader(id, length), ...parts]
}

/** Returns the start of a protobuf field: its key, and the length of its content. */
export function fieldHeader(id: number, length: number): Uint8Array {
  return Buffer.concat([varint((id << 3) | 2), varint(length)])
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function floatBytes(value: number): Uint8Array {
  return new Uint8Array(Float32Array.of(value).buffer)
}

/**
 * Returns a whole number as groups of seven bits, the lowest first. A number below 0 has the 64 bits of an int64. Do
 * not use BigInt and Uint8Array.from here: with them, Bun 1.4.5 aborted in 3 of 157 processes that opened a model.
 * Without them, it aborted in none of 400.
 */
function varint(value: number): Uint8Array {
  if (!Number.isInteger(value)) throw new RangeError(`${value} is no whole number`)
  const bytes: number[] = []
  let rest = value
  while ((rest > 127 || rest < 0) && bytes.length < 9) {
    bytes.push((rest & 127) | 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest & (bytes.length < 9 ? 127 : 1))
  return new Uint8Array(bytes)
}

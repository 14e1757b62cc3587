// Writes fields of protobuf messages. A field begins with a key, which has the field number and the wire type. Next is
// either a varint (groups of seven bits), or a length and that number of bytes.

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

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  do {
    bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0))
    rest >>= 7n
  } while (rest > 0n)
  return Uint8Array.from(bytes)
}

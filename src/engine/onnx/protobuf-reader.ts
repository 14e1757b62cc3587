// Reads fields of protobuf messages.

const decoder = new TextDecoder()

export function text(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** Returns the content of each field with the number `wanted`. Leaves out varints. */
export function fieldsOf(message: Uint8Array, wanted: number): Uint8Array[] {
  const found: Uint8Array[] = []
  scan(message, (key, { from, to }) => {
    if (key >>> 3 === wanted && !isNumber(key)) found.push(message.subarray(from, to))
  })
  return found
}

/** Returns the integers of a repeated field. The integers may be in one packed field or in several fields. */
export function numbersOf(message: Uint8Array, wanted: number): number[] {
  const found: number[] = []
  scan(message, (key, { from, to }) => {
    if (key >>> 3 !== wanted) return
    const reader = new Reader(message, from)
    while (reader.at < to) found.push(reader.varint())
  })
  return found
}

/**
 * Calls `visit` for each field of the message, with its number, its value and all its bytes. These bytes begin with the
 * key (the field number and the wire type).
 */
export function walk(
  message: Uint8Array,
  visit: (id: number, value: number | Uint8Array, field: Uint8Array) => void,
): void {
  scan(message, (key, { start, from, to }) => {
    const value = isNumber(key) ? new Reader(message, from).varint() : message.subarray(from, to)
    visit(key >>> 3, value, message.subarray(start, to))
  })
}

/** The place of a field in its message: its key begins at `start`, and its value is from `from` to `to`. */
type Place = { start: number; from: number; to: number }

/** Calls `visit` with the key and the place of each field of the message. */
function scan(message: Uint8Array, visit: (key: number, place: Place) => void): void {
  const reader = new Reader(message, 0)
  while (reader.at < message.length) {
    const start = reader.at
    const key = reader.varint()
    const length = lengthOf(key, reader)
    const from = reader.at
    if (length === null) reader.varint()
    else reader.at += length
    if (reader.at > message.length) throw new Error(notOnnx)
    visit(key, { start, from, to: reader.at })
  }
}

function isNumber(key: number): boolean {
  return (key & 7) === 0
}

/**
 * Returns the number of bytes of the value after `key`, or null for a varint. A value of wire type 2 has a varint with
 * its length between the key and the value. This function reads this varint, so that `reader` is at the start of the
 * value.
 */
function lengthOf(key: number, reader: Reader): number | null {
  const kind = key & 7
  if (kind === 0) return null
  if (kind === 1) return 8
  if (kind === 2) return reader.varint()
  if (kind === 5) return 4
  throw new Error(notOnnx)
}

const notOnnx = 'this is not an ONNX model'

class Reader {
  constructor(
    private readonly bytes: Uint8Array,
    /** The offset of the next byte. */
    public at: number,
  ) {}

  /** Reads a varint: an integer in groups of seven bits, the lowest group first. */
  varint(): number {
    let value = 0
    for (let scale = 1; this.at < this.bytes.length; scale *= 128) {
      const byte = this.bytes[this.at++]!
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    throw new Error(notOnnx)
  }
}

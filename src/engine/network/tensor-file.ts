// Reads and writes files of named tensors in the safetensors format: length of the header, JSON header, bytes of the
// tensors. ONNX Runtime maps the file into memory, so several processes share this memory.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { limits } from '../../limits.ts'
import type { ElementType } from '../onnx/elements.ts'
import type { Stored } from '../onnx/messages.ts'

const types = {
  F32: { type: 'float32', bytes: 4 },
  F16: { type: 'float16', bytes: 2 },
  I8: { type: 'int8', bytes: 1 },
  U8: { type: 'uint8', bytes: 1 },
} as const satisfies Record<string, { type: ElementType; bytes: number }>

export type Kind = keyof typeof types
/**
 * A tensor that will be written to a file. `make` computes the content only when the tensor is written, so the whole
 * model is never in memory at once.
 */
export type Draft = { name: string; kind: Kind; dims: readonly number[]; make: () => NodeJS.TypedArray }

type Entry = { dtype: Kind; shape: number[]; data_offsets: [number, number] }
type Header = Record<string, Entry>

/**
 * Returns the place of each tensor in the file, by name. Leaves out tensors whose type is not in `types`. Reads only
 * the header.
 */
export function readTensorFile(path: string): Map<string, Stored> {
  const { header, from: start } = headerOf(path)
  return new Map(
    Object.entries(header).flatMap(
      ([
        name,
        {
          dtype,
          shape,
          data_offsets: [from, to],
        },
      ]) => {
        const known = types[dtype]
        if (!known) return []
        return [
          [
            name,
            { type: known.type, dims: shape, file: basename(path), from: start + from, bytes: to - from },
          ],
        ]
      },
    ),
  )
}

/**
 * Reads the header of a file. `from` is the offset at which the bytes of the tensors begin. Throws an error if the header
 * is damaged, or if the file is shorter than its header says.
 */
export function headerOf(path: string): { header: Header; from: number } {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const first = new BigUint64Array(1)
    readSync(file, new Uint8Array(first.buffer), 0, 8, 0)
    const length = Number(first[0])
    if (length > limits.tensorHeaderBytesMax) throw new Error(`${path} is not a safetensors file`)
    const from = 8 + length
    const checkEnd = (end: number) => {
      if (from + end > size) throw new Error(`${path} is cut off: copy or download it again`)
    }
    checkEnd(0)
    const text = new Uint8Array(length)
    readSync(file, text, 0, length, 8)
    const header = headerIn(new TextDecoder().decode(text))
    if (header === null) throw new Error(`${path} is not a safetensors file`)
    for (const { data_offsets } of Object.values(header)) checkEnd(data_offsets[1])
    return { header, from }
  } finally {
    closeSync(file)
  }
}

/** Returns the entries of the tensors in the JSON text of a header. Returns null if this text is damaged. */
function headerIn(text: string): Header | null {
  try {
    const { __metadata__, ...header } = JSON.parse(text)
    return Object.values(header).every(isEntry) ? (header as Header) : null
  } catch {
    return null
  }
}

function isEntry(value: unknown): value is Entry {
  const { dtype, shape, data_offsets: place } = Object(value) as Partial<Entry>
  if (typeof dtype !== 'string' || !Array.isArray(shape) || !Array.isArray(place)) return false
  const [from = -1, to = -1] = place
  return [...shape, from, to].every(size => Number.isSafeInteger(size) && size >= 0) && from <= to
}

/**
 * Writes tensors to a file. Tensors with large elements come first, so the offset of each tensor is a multiple of its
 * element size. Readers of the file require such offsets.
 */
export async function writeTensorFile(path: string, drafts: readonly Draft[]): Promise<void> {
  const inOrder = drafts.toSorted((one, other) => types[other.kind].bytes - types[one.kind].bytes)
  const header: Header = {}
  let at = 0
  for (const { name, kind, dims } of inOrder) {
    const to = at + types[kind].bytes * dims.reduce((product, size) => product * size, 1)
    header[name] = { dtype: kind, shape: [...dims], data_offsets: [at, to] }
    at = to
  }
  const alignment = 64
  const text = JSON.stringify(header)
  const padded = text.padEnd(Math.ceil((8 + text.length) / alignment) * alignment - 8)
  const file = await open(path, 'w')
  try {
    await file.appendFile(new Uint8Array(BigUint64Array.of(BigInt(padded.length)).buffer))
    await file.appendFile(padded)
    for (const { name, make } of inOrder) {
      const data = make()
      const [from, to] = header[name]!.data_offsets
      if (data.byteLength !== to - from) throw new RangeError(`${name} has ${data.byteLength} bytes`)
      await file.appendFile(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    }
  } finally {
    await file.close()
  }
}

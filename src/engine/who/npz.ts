// Reads an `.npz` file of NumPy: a zip archive with several `.npy` files. Each `.npy` file contains one array.

import { readEntry } from '../../base/zip.ts'
import { listZip } from '../../base/zip-list.ts'

export type NumpyArray = { shape: number[]; values: Float64Array }

/** The first bytes of every `.npy` file: `\x93NUMPY`. */
const mark = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59])

/** Returns the arrays in the archive, by their names. Throws if the archive or an array is damaged or unsupported. */
export function readNpz(path: string): Map<string, NumpyArray> {
  return new Map(
    listZip(path).map(entry => [
      entry.name.replace(/\.npy$/, ''),
      readArray(`${entry.name} in ${path}`, readEntry(path, entry)),
    ]),
  )
}

/**
 * Parses a `.npy` file: the bytes of `mark`, a version, a header in the form of a Python dictionary, and the values.
 */
function readArray(name: string, file: Buffer): NumpyArray {
  if (file.length < 12 || !file.subarray(0, mark.length).equals(mark)) throw new Error(`${name} is no array`)
  const isFirstVersion = file.readUInt8(6) === 1
  const from = isFirstVersion ? 10 : 12
  const to = from + (isFirstVersion ? file.readUInt16LE(8) : file.readUInt32LE(8))
  const header = file.toString('latin1', from, to)
  const width = Number(/'descr': *'<f([48])'/.exec(header)?.[1])
  const dims = /'shape': *\(([\d, ]*)\)/.exec(header)?.[1]
  if (!width || dims === undefined || !header.includes("'fortran_order': False"))
    throw new Error(`${name} has a header that is not known here: ${header.trim()}`)
  const shape = dims
    .split(',')
    .filter(size => size.trim() !== '')
    .map(Number)
  const count = shape.reduce((product, size) => product * size, 1)
  if (file.length < to + count * width) throw new Error(`${name} is cut off`)
  const read = (at: number) => (width === 8 ? file.readDoubleLE(at) : file.readFloatLE(at))
  return { shape, values: Float64Array.from({ length: count }, (_, index) => read(to + index * width)) }
}

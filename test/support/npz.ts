// Writes `.npz` files of NumPy for tests.

import { makeZip } from './zip.ts'

type Values = { shape: number[]; values: number[]; bits?: 32 | 64 }

export function makeNpz(arrays: Record<string, Values>, options: { stored?: boolean } = {}): Buffer {
  const files = Object.entries(arrays).map(([name, array]) => [`${name}.npy`, makeArray(array)] as const)
  return makeZip(Object.fromEntries(files), options)
}

function makeArray({ shape, values, bits = 64 }: Values): Uint8Array {
  const dims = shape.length === 1 ? `${shape[0]},` : shape.join(', ')
  const facts = `{'descr': '<f${bits / 8}', 'fortran_order': False, 'shape': (${dims}), }`
  const header = `${facts.padEnd(117)}\n`
  const start = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length, 0])
  const numbers = bits === 64 ? Float64Array.from(values) : Float32Array.from(values)
  return Buffer.concat([start, Buffer.from(header), Buffer.from(numbers.buffer)])
}

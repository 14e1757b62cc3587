// Maps a file into memory for reading. `Bun.mmap` opens a file for writing, which fails for a read-only file.

import { toArrayBuffer } from 'bun:ffi'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { openLibc } from './libc.ts'

const protection = { read: 1 }
const mapping = { private: 2 }

/** The C library, opened at the first call of `mapFile`. */
let library: ReturnType<typeof open> | undefined

function open() {
  return openLibc({ mmap: { args: ['ptr', 'u64', 'i32', 'i32', 'i32', 'i64'], returns: 'ptr' } })
}

/**
 * Returns the content of a file. The operating system reads each page at its first use. The pages stay mapped until the
 * process ends.
 */
export function mapFile(path: string): Uint8Array {
  if (process.platform !== 'linux') return Bun.mmap(path)
  library ??= open()
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    if (size === 0) return new Uint8Array()
    const address = library.mmap(null, size, protection.read, mapping.private, file, 0)
    // mmap returns -1 if it fails. bun:ffi converts -1 to a very large unsigned number.
    if (address === null || address > Number.MAX_SAFE_INTEGER)
      throw new Error(`${path} cannot be mapped into memory`)
    return new Uint8Array(toArrayBuffer(address, 0, size))
  } finally {
    closeSync(file)
  }
}

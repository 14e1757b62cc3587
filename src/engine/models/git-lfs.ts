// Recognises a file that Git LFS has not fetched. If git-lfs is not installed, a clone of a repository of Hugging Face
// has small text files, the pointers, in place of the large files.

import { closeSync, openSync, readSync } from 'node:fs'

const start = 'version https://git-lfs.github.com/spec/'

/** Returns an error message if the file is only a pointer of Git LFS, and otherwise null. */
export function pointerFault(path: string): string | null {
  const file = openSync(path, 'r')
  try {
    const bytes = new Uint8Array(start.length)
    readSync(file, bytes)
    const isPointer = new TextDecoder().decode(bytes) === start
    return isPointer ? `${path} is a pointer of Git LFS, not the file itself: run git lfs pull` : null
  } finally {
    closeSync(file)
  }
}

// The child process that unpacks the embedded libraries and models for another process of the program (see
// base/unpack-child.ts).

import { unpackHere } from '../base/carried.ts'
import { reasonOf } from '../base/reason.ts'
import { terminal } from './terminal.ts'

/** The entry point of the child process. If a file cannot be unpacked, prints the reason to stderr and exits with 1. */
export async function unpackFiles(): Promise<void> {
  try {
    unpackHere()
  } catch (error) {
    terminal.err(reasonOf(error))
    process.exitCode = 1
  }
}

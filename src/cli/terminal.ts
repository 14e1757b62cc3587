// Writes the output of commands. Writing is synchronous, so if the disk is full or the pipe is closed, the command that
// writes gets the error.

import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { limits } from '../limits.ts'

/** The error that is thrown when a write to stdout fails. */
export class OutputError extends Error {}

/** The error that is thrown when the reader of stdout has read a part and has then closed the pipe, as `head` does. */
export class ReaderClosed extends OutputError {}

/** True if a part of the output was written to stdout. */
let hasWritten = false

export const terminal = {
  /** Writes text to stdout. Throws an OutputError when the disk is full or the reader has closed the pipe. */
  out(text: string): void {
    try {
      writeAll(1, text)
    } catch (error) {
      const code = codeOf(error)
      const Thrown = code === 'EPIPE' && hasWritten ? ReaderClosed : OutputError
      throw new Thrown(reasons[code] ?? `standard output cannot be written: ${code}`)
    }
  },
  /** Writes text to stderr. An error of this write is ignored, because its message could be written only to stderr. */
  err(text: string): void {
    try {
      writeAll(2, text)
    } catch {}
  },
  isTerminal: (stream: 'out' | 'err') => isatty(stream === 'out' ? 1 : 2),
}

const reasons: Record<string, string> = {
  ENOSPC: 'standard output cannot be written: the disk is full',
  EPIPE: 'standard output was closed before everything was written',
  EBADF: 'standard output is closed',
}

function writeAll(stream: number, text: string): void {
  let bytes = new TextEncoder().encode(text)
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(stream, bytes))
      if (stream === 1) hasWritten = true
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error
      Bun.sleepSync(limits.terminalRetryMs)
    }
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error'
}

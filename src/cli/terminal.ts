// Writes the output of commands. Writing is synchronous, so a command gets the error of a full disk or a closed pipe.

import { readFileSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { limits } from '../limits.ts'

/** The error that is thrown when a write to stdout fails. */
export class OutputError extends Error {}

/** The error of a write to stdout whose reader closed the pipe after a part of the output, as `head` does. */
export class ReaderClosed extends OutputError {}

/** True if a part of the output was written to stdout. */
let hasWritten = false

export const terminal = {
  /**
   * Writes text to stdout. Throws an OutputError if stdout is closed, its disk is full or its pipe is closed. An empty
   * text only checks that stdout is not closed.
   */
  out(text: string): void {
    if (!hasWritten && isClosed()) throw new OutputError('standard output is closed')
    try {
      writeAll(1, text)
    } catch (error) {
      const code = codeOf(error)
      const Thrown = code === 'EPIPE' && hasWritten ? ReaderClosed : OutputError
      throw new Thrown(reasons[code] ?? `standard output cannot be written: ${code}`)
    }
  },
  /** Writes text to stderr. Ignores errors, because their messages could be written only to stderr. */
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
}

/** The flag O_CLOEXEC of Linux, which has this value on x86 and ARM. */
const closeOnExec = 0o2000000

/**
 * Returns true if the program was started with a closed stdout, as by `>&-` in a shell. Bun then opens /dev/null with
 * the flag close-on-exec, which an inherited file never has.
 */
function isClosed(): boolean {
  try {
    const [, flags = ''] = /^flags:\s*(\d+)$/m.exec(readFileSync('/proc/self/fdinfo/1', 'latin1')) ?? []
    return (Number.parseInt(flags, 8) & closeOnExec) !== 0
  } catch {
    // Without /proc, this function cannot find out that stdout was closed.
    return false
  }
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

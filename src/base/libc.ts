// Opens functions of the GNU C library.

import { dlopen, type FFIFunction, type Library } from 'bun:ffi'

/**
 * The files of the C library. Since version 2.34, libc.so.6 has all functions that steno calls. In older versions,
 * `dlopen` and `dlsym` are in libdl.so.2, and semaphores in libpthread.so.0.
 */
const libcFiles = ['libc.so.6', 'libdl.so.2', 'libpthread.so.0']

/**
 * Opens the functions of the C library that `table` describes, each in the first of `files` that has it. Throws if none
 * of these files has the function.
 */
export function openLibc<const Table extends Record<string, FFIFunction>>(
  table: Table,
  files: readonly string[] = libcFiles,
): Library<Table>['symbols'] {
  const functions = Object.entries(table).map(([name, type]) => [name, openFunction(name, type, files)])
  return Object.fromEntries(functions)
}

/**
 * The message for a process that may not make machine code. Bun makes machine code for each C function that `dlopen`
 * opens, so that JavaScript can call it.
 */
const noMachineCode =
  'this process may not make machine code, or has too little address space for it: remove the limit (ulimit -v unlimited) or the setting MemoryDenyWriteExecute of systemd'

function openFunction(name: string, type: FFIFunction, files: readonly string[]) {
  for (const file of files) {
    try {
      return dlopen(file, { [name]: type }).symbols[name]
    } catch (error) {
      if (!isMissing(error)) throw new Error(noMachineCode, { cause: error })
      // The library `file` does not exist, or it has no function `name`. The next library is tried.
    }
  }
  throw new Error(`the C library of this machine has no function ${name}`)
}

/**
 * Returns true if `error` means that the library does not exist or does not have the function. Bun gives these two
 * codes to no other error of `dlopen`.
 */
function isMissing(error: unknown): boolean {
  return ['ERR_DLOPEN_FAILED', 'ERR_INVALID_ARG_TYPE'].includes(Object(error).code)
}

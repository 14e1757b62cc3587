// Builds the command line that starts another process of this program, as a child process.

import { fileURLToPath } from 'node:url'
import { isCompiled, ownProgram } from './carried.ts'

export function selfCommand(...args: string[]): string[] {
  return isCompiled()
    ? [ownProgram(), ...args]
    : [process.execPath, '--no-env-file', fileURLToPath(new URL('../main.ts', import.meta.url)), ...args]
}

// Builds the command that starts this program again, as a child process.

import { fileURLToPath } from 'node:url'
import { isCompiled } from './carried.ts'

export function selfCommand(...args: string[]): string[] {
  return isCompiled()
    ? [process.execPath, ...args]
    : [process.execPath, fileURLToPath(new URL('../main.ts', import.meta.url)), ...args]
}

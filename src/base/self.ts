// How the program starts itself again as a child: from the binary, or from a checkout.

import { fileURLToPath } from 'node:url'
import { isCompiled } from './carried.ts'

export function selfCommand(...args: string[]): string[] {
  return isCompiled()
    ? [process.execPath, ...args]
    : [process.execPath, fileURLToPath(new URL('../main.ts', import.meta.url)), ...args]
}

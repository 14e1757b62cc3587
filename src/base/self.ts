// How the program starts itself again as a child: from the binary, or from a checkout.

import { fileURLToPath } from 'node:url'

const compiled = import.meta.url.includes('/$bunfs/')

export function selfCommand(...args: string[]): string[] {
  return compiled
    ? [process.execPath, ...args]
    : [process.execPath, fileURLToPath(new URL('../main.ts', import.meta.url)), ...args]
}

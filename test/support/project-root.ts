// Names the root folder of the project. source.ts, which parses the source files, would load the TypeScript compiler,
// and this takes 0.1 s of CPU time in each process.

import { fileURLToPath } from 'node:url'

export const projectRoot = fileURLToPath(new URL('../../', import.meta.url))

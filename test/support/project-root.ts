// Names the root folder of the project. The constant has its own file, so that tests can import it without source.ts,
// which loads the TypeScript compiler (0.1 s of CPU time in each process).

import { fileURLToPath } from 'node:url'

export const projectRoot = fileURLToPath(new URL('../../', import.meta.url))

// The files inside the binary: path in the project to path in the binary, and one hash over all of them.
// A checkout has none; scripts/build.ts puts its own list in the place of this file.

export type Embedded = { hash: string; files: Record<string, string> }

export const embedded: Embedded | null = null

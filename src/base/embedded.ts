// The files inside the binary: a map from the path in the project to the path in the binary, and one hash over all
// files. A checkout has none; scripts/build.ts replaces this file with its own list.

export type Embedded = { hash: string; files: Record<string, string> }

export const embedded: Embedded | null = null

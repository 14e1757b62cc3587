// The files inside the binary. `files` maps the path in the project to the path in the binary; a path in the
// binary that ends in .zst is compressed. `hash` is one
// hash over all files. The value is null in a checkout. The build (scripts/build.ts) replaces the content of
// this file.

export type Embedded = { hash: string; files: Record<string, string> }

export const embedded: Embedded | null = null

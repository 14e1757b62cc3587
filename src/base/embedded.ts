// The list of the files inside the binary. `files` maps the path of a file in the project to its path in the binary.
// A file whose path in the binary ends in .zst is compressed. `hash` is the hash over all files. In a checkout the
// list is null. The build (scripts/build.ts) replaces the content of this file.

export type Embedded = { hash: string; files: Record<string, string> }

export const embedded: Embedded | null = null

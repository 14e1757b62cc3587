// The list of the files inside the built program. `files` maps the path of a file in the project to its path in the
// program. A path in the program that ends in .zst belongs to a compressed file. `hash` is the hash over all files.
// In a checkout, the list is null. The build (scripts/build.ts) replaces the content of this file.

export type Embedded = { hash: string; files: Record<string, string> }

export const embedded: Embedded | null = null

// The list of the carried files inside the built program. `files` maps the path of a file in the project to its path
// inside the program. If the path inside the program ends in .zst, the file is compressed. `hash` is the hash over all
// these files. In a checkout, the list is null. The build (scripts/build.ts) replaces the content of embedded.ts.

export type Embedded = { hash: string; files: Record<string, string> }

export const embedded: Embedded | null = null

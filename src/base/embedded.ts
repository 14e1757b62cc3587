// The list of the carried files in the built program: the libraries, models and other files that native code opens by
// their path. `hash` is the hash over all these files. `files` lists these files by their paths in the project. In a
// checkout, the list is null. The build (scripts/build.ts) replaces the content of embedded.ts.

/**
 * A carried file. `inside` is the path of its copy inside the program. If this path ends in .zst, the copy is
 * compressed. `bytes` is the size of the file itself.
 */
export type EmbeddedFile = { inside: string; bytes: number }
export type Embedded = { hash: string; files: Record<string, EmbeddedFile> }

export const embedded: Embedded | null = null

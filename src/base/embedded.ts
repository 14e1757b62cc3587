// The list of the files that are embedded in the built program: libraries, models and other files that native code
// opens by path. `hash` is the hash over these files. `files` has their paths in the project. The build
// (scripts/build.ts) replaces this list. In a checkout, the list is null.

/**
 * A file that is embedded in the built program. `inside` is the path of its copy in the program. A copy whose path ends
 * in .zst is compressed. `bytes` is the uncompressed size.
 */
export type EmbeddedFile = { inside: string; bytes: number }
export type Embedded = { hash: string; files: Record<string, EmbeddedFile> }

export const embedded: Embedded | null = null

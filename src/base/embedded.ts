// The files inside the binary: `files` maps the path in the project to the path in the binary, and `hash` is
// one hash over all files. The value is null in a checkout. scripts/build.ts replaces this file by the list
// of the build.

export type Embedded = { hash: string; files: Record<string, string> }

export const embedded: Embedded | null = null

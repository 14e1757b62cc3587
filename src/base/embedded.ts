// The list of the carried files in the built program: the libraries, models and other files that native code opens by
// their path. `files` maps the path of a file in the project to the path of its copy inside the program. If the path of
// the copy ends in .zst, the copy is compressed. `hash` is the hash over all these files. In a checkout, the list is
// null. The build (scripts/build.ts) replaces the content of embedded.ts.

export type Embedded = { hash: string; files: Record<string, string> }

export const embedded: Embedded | null = null

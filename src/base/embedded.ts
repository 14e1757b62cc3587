// What the binary carries, by its path in the project: where it is inside the binary, and one hash over all of it.
// In a checkout there is nothing; the build puts its own list in the place of this file (scripts/build.ts).

export type Embedded = { hash: string; files: Record<string, string> }

export const embedded: Embedded | null = null

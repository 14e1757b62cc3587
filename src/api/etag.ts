// The ETag of a transcript: the number of its edits.

export function tagOf(edits: number): string {
  return `"${edits}"`
}

/**
 * Returns the numbers of edits that the header If-Match names. A tag of another form is the number -1, which
 * no transcript has. Returns null when every number matches: without the header, and for `*`.
 */
export function editsOf(ifMatch: string | undefined): number[] | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null
  return ifMatch.split(',').map(tag => Number(/^\s*"(\d{1,15})"\s*$/.exec(tag)?.[1] ?? -1))
}

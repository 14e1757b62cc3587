// The ETag of a transcript: the number of its edits.

export function tagOf(edits: number): string {
  return `"${edits}"`
}

/**
 * Returns the numbers of edits in the ETags of the header If-Match. Returns -1 for an invalid ETag, so that the
 * ETag matches no transcript. Returns null when the header is missing or `*`: every transcript matches then.
 */
export function editsOf(ifMatch: string | undefined): number[] | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null
  return ifMatch.split(',').map(tag => Number(/^\s*"(\d{1,15})"\s*$/.exec(tag)?.[1] ?? -1))
}

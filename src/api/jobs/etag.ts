// The ETag of a transcript, which is the number of edits of the transcript.

export function tagOf(edits: number): string {
  return `"${edits}"`
}

/**
 * Returns the number of edits for each ETag in the header If-Match, and -1 for an invalid ETag. Returns null if the
 * header accepts every transcript: it is missing or `*`. Also understands the ETags of a proxy that compresses
 * responses: from `"3"`, nginx makes `W/"3"`, and Caddy makes `"3-gzip"`.
 */
export function editsOf(ifMatch: string | undefined): number[] | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null
  return ifMatch
    .split(',')
    .map(tag => Number(/^\s*(?:W\/)?"(\d{1,15})(?:-[a-z]+)?"\s*$/.exec(tag)?.[1] ?? -1))
}

// Makes and reads the ETag of a transcript. The ETag is the number of edits of the transcript.

export function tagOf(edits: number): string {
  return `"${edits}"`
}

/**
 * Returns one number for each ETag in the header If-Match. An ETag of a transcript is the number of its edits. An
 * invalid ETag becomes -1, which is the ETag of no transcript. Returns null if the header is missing or is `*`, because
 * every transcript is then accepted.
 *
 * A proxy that compresses responses changes their ETags. From `"3"`, nginx makes `W/"3"`, and Caddy makes `"3-gzip"`.
 */
export function editsOf(ifMatch: string | undefined): number[] | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null
  return ifMatch
    .split(',')
    .map(tag => Number(/^\s*(?:W\/)?"(\d{1,15})(?:-[a-z]+)?"\s*$/.exec(tag)?.[1] ?? -1))
}

import { ApiError } from '../../errors.ts'
import { readRange } from './byte-range.ts'

/**
 * Sends a file, or the part that the header Range requests. Returns the status 304 if If-None-Match contains the ETag
 * or `*`. Throws an ApiError if the file lacks the requested part.
 */
export function sendFile(
  file: Bun.BunFile,
  request: Request,
  { ETag, ...others }: { ETag: string } & Record<string, string>,
): Response {
  const { size } = file
  const headers = { ...others, ETag, 'Accept-Ranges': 'bytes' }
  if (isKnown(request.headers.get('if-none-match'), ETag)) return new Response(null, { status: 304, headers })
  // If-Range contains the ETag of the part that the client already has. If the file has changed, the whole file is
  // sent.
  const isSame = [null, ETag].includes(request.headers.get('if-range'))
  const range = isSame ? readRange(request.headers.get('range'), size) : 'whole'
  if (range === 'whole') return new Response(file, { headers })
  if (range === 'unsatisfiable')
    throw new ApiError('RANGE_NOT_SATISFIABLE', undefined, { 'Content-Range': `bytes */${size}` })
  const { start, end } = range
  return new Response(file.slice(start, end), {
    status: 206,
    headers: { ...headers, 'Content-Range': `bytes ${start}-${end - 1}/${size}` },
  })
}

/**
 * Returns true if If-None-Match contains the ETag or `*`. A cache may make an ETag weak, so `W/"a"` counts as `"a"`.
 */
function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map(tag => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

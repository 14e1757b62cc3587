import { ApiError } from '../../errors.ts'
import { readRange } from './byte-range.ts'

/** Sends a file, or the part of it that the header Range requests. */
export function sendFile(
  file: Bun.BunFile,
  request: Request,
  { ETag, ...others }: { ETag: string } & Record<string, string>,
): Response {
  const { size } = file
  const headers = { ...others, ETag, 'Accept-Ranges': 'bytes' }
  // If-Range contains the ETag of the part that the client already has. If the ETag of the file is different, the whole
  // file is sent.
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

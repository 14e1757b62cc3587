// Compresses long responses. A transcript then has a tenth of its length, so that it opens ten times as fast on a slow
// network.

import { promisify } from 'node:util'
import { zlib } from '../../base/late-modules.ts'
import { limits } from '../../limits.ts'
import { accepts } from '../accept-encoding.ts'
import type { Written } from './large-answers.ts'

/**
 * Level 3 makes the JSON of a transcript 10 % of its length, in 5 ms for two hours of speech. Level 6 makes it 8 %, in
 * five times the time.
 */
const level = 3

/**
 * Returns the response with a compressed body if it is long and the client accepts gzip. The ETag stays the same,
 * because clients use it as the version of the transcript. Only a cache would need two ETags, one for each form of the
 * body, and no cache may store this response (`no-store`).
 */
export async function compressed(request: Request, written: Written): Promise<Written> {
  const { body, headers } = written
  if (body.length < limits.compressedCharactersMin) return written
  const varied = { ...headers, Vary: 'Accept-Encoding' }
  if (!accepts(request.headers.get('accept-encoding') ?? '', 'gzip')) return { body, headers: varied }
  return {
    body: await promisify(zlib().gzip)(body, { level }),
    headers: { ...varied, 'Content-Encoding': 'gzip' },
  }
}

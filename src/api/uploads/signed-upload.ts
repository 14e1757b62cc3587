// The route that receives the bytes of a file at a signed address.

import { Elysia } from 'elysia'
import { ApiError, type RequestErrorCode } from '../../errors.ts'
import { whyRefused } from '../../uploads/signed-url.ts'
import { findUpload } from '../../uploads/upload.ts'
import { requirePlainBytes } from '../gate/body.ts'
import { gate } from '../gate/gate.ts'
import { pauseIdleTimeout } from '../idle-timeout.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import * as shapes from '../shapes/uploads.ts'

const transferErrors: RequestErrorCode[] = [
  'INVALID_REQUEST',
  'REQUEST_TIMEOUT',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INSUFFICIENT_STORAGE',
]

export const signedUpload = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Uploads'] })
    .use(gate(service))

    .put(
      '/upload/:id',
      async ({ request, server, params: { id }, query: { expires = '', signature = '' }, set }) => {
        requireSignedUrl(service, {
          id,
          expires,
          signature,
          contentType: request.headers.get('content-type') ?? '',
        })
        requireWholeFile(request.headers)
        // Bun treats an upload slower than 16 KB/s as idle, so Bun's idle timeout is switched off. `UploadStore` aborts
        // the upload when no more bytes arrive.
        const resumeTimeout = pauseIdleTimeout(service.config, server, request)
        const stored = await service.uploads
          .put(id, request.body, Number(request.headers.get('content-length') ?? 0))
          .finally(resumeTimeout)
        set.headers.ETag = `"${stored.sha256}"`
        return { upload_id: id, file_size_bytes: stored.fileBytes }
      },
      {
        visitor: true,
        parse: 'none',
        params: shapes.uploadParam,
        query: shapes.signedQuery,
        response: { 200: shapes.stored },
        detail: about({
          summary: 'Send the bytes to the signed address',
          description:
            'Needs no key: the address carries the right. Send exactly the headers that came with it. An empty file is stored, but a job cannot use the upload until a file with content replaces it.',
          requestBytes: '*/*',
          success: { status: 200, description: 'Stored', headers: ['ETag'] },
          fails: transferErrors,
        }),
      },
    )

function requireSignedUrl({ db, secrets }: Service, presented: Parameters<typeof whyRefused>[1]): void {
  const wanted = findUpload(db, presented.id)?.contentType ?? null
  const refused = whyRefused(secrets, presented, { wanted, now: db.now() })
  if (refused !== null) throw new ApiError('FORBIDDEN', refused)
}

/** Throws if the request contains only a part of the file, or an encoded file. */
function requireWholeFile(headers: Headers): void {
  if (headers.has('content-range'))
    throw new ApiError('INVALID_REQUEST', 'Content-Range is not supported: send the whole file at once.')
  requirePlainBytes(headers)
}

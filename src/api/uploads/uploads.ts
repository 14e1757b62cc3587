import { Elysia } from 'elysia'
import { requireBalance } from '../../accounts/funds.ts'
import { ApiError } from '../../errors.ts'
import { contentTypeOf } from '../../uploads/filename.ts'
import { signedUrl, whyRefused } from '../../uploads/signed-url.ts'
import { createUpload, findUpload } from '../../uploads/upload.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import * as shapes from '../shapes/uploads.ts'

export const uploads = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Uploads'] })
    .use(gate(service))

    .post(
      '/upload',
      ({ body: { filename }, caller, once, request }) => {
        const contentType = contentTypeOf(filename)
        return once(() => newUpload(service, caller.accountId, { filename, contentType, request })).reply
      },
      {
        submit: 'uploads.create',
        body: shapes.uploadRequest,
        response: { 200: shapes.upload },
        detail: about({
          summary: 'Get an address to send a file to',
          fails: ['INVALID_FILENAME', 'INVALID_MEDIA_FORMAT', 'ZERO_BALANCE', 'INSUFFICIENT_STORAGE'],
        }),
      },
    )

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
        // Switches off Bun's idle timeout, because this timeout would abort an upload that is slower than 16 KB/s.
        // `UploadStore` has its own timeout: it aborts an upload when no more bytes arrive.
        server?.timeout(request, 0)
        const stored = await service.uploads
          .put(id, request.body, Number(request.headers.get('content-length') ?? 0))
          .finally(() => server?.timeout(request, service.config.requestIdleMs / 1000))
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
          fails: [
            'INVALID_REQUEST',
            'REQUEST_TIMEOUT',
            'CONFLICT',
            'PAYLOAD_TOO_LARGE',
            'UNSUPPORTED_MEDIA_TYPE',
            'INSUFFICIENT_STORAGE',
          ],
        }),
      },
    )

function requireSignedUrl({ db, secrets }: Service, presented: Parameters<typeof whyRefused>[1]): void {
  const wanted = findUpload(db, presented.id)?.contentType ?? null
  const refused = whyRefused(secrets, presented, { wanted, now: db.now() })
  if (refused !== null) throw new ApiError('FORBIDDEN', refused)
}

/** Throws if the request contains only a part of the file, or a compressed file. */
function requireWholeFile(headers: Headers): void {
  if (headers.has('content-range'))
    throw new ApiError('INVALID_REQUEST', 'Content-Range is not supported: send the whole file at once.')
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (coding === '' || coding === 'identity') return
  throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the file as it is, without Content-Encoding.', {
    'Accept-Encoding': 'identity',
  })
}

function newUpload(
  { db, config, baseUrl, secrets, uploads }: Service,
  accountId: string,
  { filename, contentType, request }: { filename: string; contentType: string; request: Request },
) {
  requireBalance(db, accountId, config.pricePerHourCents)
  uploads.requireRoom(accountId)
  const upload = createUpload(db, accountId, { filename, contentType, ttlMs: config.uploadTtlMs })
  return {
    upload_id: upload.id,
    upload_url: signedUrl(secrets, baseUrl(request), upload),
    expires_in: Math.round(config.uploadTtlMs / 1000),
    method: 'PUT',
    headers: { 'Content-Type': upload.contentType },
  }
}

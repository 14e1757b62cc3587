import { Elysia } from 'elysia'
import { requireBalance } from '../accounts/funds.ts'
import { ApiError } from '../errors.ts'
import { contentTypeOf } from '../uploads/filename.ts'
import { isSignedUrl, signedUrl } from '../uploads/signed-url.ts'
import { storeUpload } from '../uploads/store.ts'
import { createUpload } from '../uploads/upload.ts'
import { gate } from './gate.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as answers from './shapes/answers.ts'
import * as requests from './shapes/requests.ts'

export const uploads = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Uploads'] })
    .use(gate(service))

    .post(
      '/upload',
      ({ body: { filename }, caller, once }) => {
        const contentType = contentTypeOf(filename)
        return once(() => newUpload(service, caller.accountId, { filename, contentType })).reply
      },
      {
        submit: 'uploads.create',
        body: requests.uploadRequest,
        response: { 200: answers.upload },
        detail: about({
          summary: 'Get an address to send a file to',
          fails: ['INVALID_FILENAME', 'INVALID_MEDIA_FORMAT', 'ZERO_BALANCE'],
        }),
      },
    )

    .put(
      '/upload/:id',
      async ({ request, params: { id }, query: { expires = '', signature = '' }, set }) => {
        const contentType = request.headers.get('content-type') ?? ''
        const address = { id, expires, signature, contentType }
        if (!isSignedUrl(service.secrets, address, service.db.now())) throw new ApiError('FORBIDDEN')
        const stored = await storeUpload(service.db, id, request.body, {
          dataDir: service.config.dataDir,
          bytesMax: service.config.fileBytesMax,
          bytesDeclared: Number(request.headers.get('content-length') ?? 0),
        })
        set.headers.ETag = `"${stored.sha256}"`
        return { upload_id: id, file_size_bytes: stored.fileBytes }
      },
      {
        visitor: true,
        parse: 'none',
        params: requests.uploadParam,
        query: requests.signedQuery,
        response: { 200: answers.stored },
        detail: about({
          summary: 'Send the bytes to the signed address',
          description:
            'Needs no key: the address carries the right. Send exactly the headers that came with it.',
          requestBytes: true,
          success: { status: 200, description: 'Stored', headers: ['ETag'] },
          fails: ['CONFLICT', 'PAYLOAD_TOO_LARGE'],
        }),
      },
    )

function newUpload(
  { db, config, baseUrl, secrets }: Service,
  accountId: string,
  { filename, contentType }: { filename: string; contentType: string },
) {
  requireBalance(db, accountId, config.pricePerHourCents)
  const upload = createUpload(db, accountId, { filename, contentType, ttlMs: config.uploadTtlMs })
  return {
    upload_id: upload.id,
    upload_url: signedUrl(secrets, baseUrl(), upload),
    expires_in: Math.round(config.uploadTtlMs / 1000),
    method: 'PUT',
    headers: { 'Content-Type': upload.contentType },
  }
}

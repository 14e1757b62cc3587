// The route that creates an upload. The response contains a signed address for the file.

import { Elysia } from 'elysia'
import { requireBalance } from '../../accounts/funds.ts'
import { contentTypeOf } from '../../uploads/filename.ts'
import { signedUrl } from '../../uploads/signed-url.ts'
import { createUpload } from '../../uploads/upload.ts'
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

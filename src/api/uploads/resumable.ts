// The routes of resumable uploads, by the tus protocol.

import { Elysia } from 'elysia'
import { ApiError, type RequestErrorCode } from '../../errors.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import * as shapes from '../shapes/resumable.ts'
import { everyHeaders, resumableUpload, stateHeaders } from './resumable-upload.ts'
import { tusExtensions, tusVersion } from './tus.ts'
import { createResumable, path } from './tus-requests.ts'

/** The errors of a request that creates a resumable upload, in addition to the errors of the checks in `gate`. */
const creationErrors: RequestErrorCode[] = [
  'INVALID_REQUEST',
  'INVALID_FILENAME',
  'INVALID_MEDIA_FORMAT',
  'ZERO_BALANCE',
  'REQUEST_TIMEOUT',
  'CONFLICT',
  'TUS_VERSION_NOT_SUPPORTED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INSUFFICIENT_STORAGE',
]

export const resumable = (service: Service) =>
  new Elysia({ tags: ['Uploads'] })
    .use(gate(service))
    .onTransform(({ set }) => {
      set.headers['Tus-Resumable'] = tusVersion
    })

    .options(
      path,
      () =>
        new Response(null, {
          status: 204,
          headers: {
            'Tus-Version': tusVersion,
            'Tus-Extension': tusExtensions,
            'Tus-Max-Size': `${service.config.fileBytesMax}`,
          },
        }),
      {
        visitor: true,
        detail: about({
          headers: everyHeaders,
          summary: 'What resumable uploads can do (tus 1.0)',
          success: {
            status: 204,
            description: 'In the headers',
            headers: ['Tus-Version', 'Tus-Extension', 'Tus-Max-Size'],
          },
        }),
      },
    )

    .post(path, context => createResumable(service, context), {
      account: 'uploads.create',
      parse: 'none',
      headers: shapes.tusCreation,
      detail: about({
        headers: everyHeaders,
        summary: 'Create a resumable upload (tus 1.0)',
        description:
          'Upload-Id is the upload_id of POST /v1/transcribe. With Content-Type: application/offset+octet-stream the body has the first bytes.',
        success: {
          status: 201,
          description: 'Created; Location is its address',
          headers: ['Location', 'Upload-Id', 'Tus-Max-Size', ...stateHeaders],
        },
        fails: creationErrors,
        failHeaders: { PAYLOAD_TOO_LARGE: ['Tus-Max-Size'] },
      }),
    })

    // Without this route, a PUT request to `path` would match the route PUT /v1/upload/:id.
    .put(
      path,
      () => {
        throw new ApiError('METHOD_NOT_ALLOWED', undefined, { Allow: 'OPTIONS, POST' })
      },
      { parse: 'none', detail: about({ refused: true, hide: true }) },
    )

    .use(resumableUpload(service))

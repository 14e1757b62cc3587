// The routes of one resumable upload: read its state, send its next bytes, delete it.

import { Elysia } from 'elysia'
import type { RequestErrorCode } from '../../errors.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import * as shapes from '../shapes/resumable.ts'
import { uploadParam } from '../shapes/uploads.ts'
import { appendBytes, applyOverride, findResumable, path, removeResumable } from './tus-requests.ts'

export const stateHeaders = ['Upload-Offset', 'Upload-Expires']

/** The headers that every response of the routes of resumable uploads has. */
export const everyHeaders = ['Tus-Resumable']

const appendErrors: RequestErrorCode[] = [
  'INVALID_REQUEST',
  'UPLOAD_NOT_FOUND',
  'REQUEST_TIMEOUT',
  'CONFLICT',
  'GONE',
  'TUS_VERSION_NOT_SUPPORTED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INSUFFICIENT_STORAGE',
]

const oneUpload = { transfer: true, parse: 'none', params: uploadParam } as const

export const resumableUpload = (service: Service) =>
  new Elysia({ tags: ['Uploads'] })
    .use(gate(service))
    .head(`${path}/:id`, context => findResumable(service, context, context.params.id), {
      ...oneUpload,
      headers: shapes.tusRequest,
      detail: about({
        headers: everyHeaders,
        summary: 'How much of a resumable upload has arrived',
        success: {
          status: 200,
          description: 'In the headers',
          headers: ['Upload-Length', 'Upload-Metadata', ...stateHeaders],
        },
        fails: ['UPLOAD_NOT_FOUND', 'GONE', 'TUS_VERSION_NOT_SUPPORTED'],
      }),
    })

    .patch(`${path}/:id`, context => appendBytes(service, context, context.params.id), {
      ...oneUpload,
      headers: shapes.tusBytes,
      detail: about({
        headers: everyHeaders,
        summary: 'Send the next bytes of a resumable upload',
        requestBytes: 'application/offset+octet-stream',
        success: { status: 204, description: 'Stored', headers: stateHeaders },
        fails: appendErrors,
        failHeaders: { CONFLICT: ['Upload-Offset'] },
      }),
    })

    .delete(`${path}/:id`, context => removeResumable(service, context, context.params.id), {
      ...oneUpload,
      headers: shapes.tusRequest,
      detail: about({
        headers: everyHeaders,
        summary: 'Delete a resumable upload',
        success: { status: 204, description: 'Deleted' },
        fails: ['UPLOAD_NOT_FOUND', 'CONFLICT', 'GONE', 'TUS_VERSION_NOT_SUPPORTED'],
      }),
    })

    .post(`${path}/:id`, context => applyOverride(service, context, context.params.id), {
      ...oneUpload,
      headers: shapes.tusOverride,
      detail: about({
        headers: everyHeaders,
        summary: 'PATCH or DELETE a resumable upload through a proxy that refuses these methods',
        success: { status: 204, description: 'As PATCH or DELETE', headers: stateHeaders },
        fails: appendErrors,
        failHeaders: { CONFLICT: ['Upload-Offset'] },
      }),
    })

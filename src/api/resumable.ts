// The routes of resumable uploads, by the tus protocol.

import { Elysia } from 'elysia'
import { requireBalance } from '../accounts/funds.ts'
import { ApiError, type RequestErrorCode } from '../errors.ts'
import { contentTypeOf, plainFilename } from '../uploads/filename.ts'
import type { Progressed, ResumableUpload } from '../uploads/resumable.ts'
import type { Caller } from './credential.ts'
import { gate } from './gate.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/resumable.ts'
import { uploadParam } from './shapes/uploads.ts'
import {
  readBodyLength,
  readBytes,
  readMetadata,
  requireBytesType,
  requireVersion,
  tusExtensions,
  tusVersion,
} from './tus.ts'

const path = '/v1/upload/resumable'

type Context = {
  request: Request
  server: Bun.Server<unknown> | null
  set: { headers: Record<string, string | number> }
  caller: Caller
}

/** The errors of a request that appends bytes to an upload. */
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

export const resumable = (service: Service) => {
  const { config } = service
  /**
   * Returns the upload store. `service.uploads` must be read only during a request, because the command `steno openapi`
   * builds the routes without a store.
   */
  const store = () => service.uploads.resumable

  /**
   * Appends the body of a request to an upload. Switches off Bun's idle timeout, because `Transfer` has its own
   * timeout: it aborts a request when no more bytes arrive.
   */
  async function receive(
    { request, server, caller }: Context,
    id: string,
    offset: number,
  ): Promise<Progressed> {
    const body = { offset, body: request.body, bytesDeclared: readBodyLength(request.headers) }
    server?.timeout(request, 0)
    return store()
      .append(caller.accountId, id, body)
      .finally(() => server?.timeout(request, config.requestIdleMs / 1000))
  }

  async function create(context: Context): Promise<Response> {
    const { request, set, caller } = context
    const { headers } = request
    requireVersion(headers)
    const declaredBytes = readLength(headers)
    const hasBytes = headers.has('content-type')
    if (hasBytes) requireBytesType(headers)
    const filename = plainFilename(readMetadata(headers).get('filename') ?? '')
    const contentType = contentTypeOf(filename)
    requireBalance(service.db, caller.accountId, config.pricePerHourCents)
    set.headers['Tus-Max-Size'] = `${config.fileBytesMax}`
    const upload = store().create(caller.accountId, { filename, contentType, declaredBytes })
    const { offset } = hasBytes
      ? await receive(context, upload.id, 0)
      : await store().find(caller.accountId, upload.id)
    return new Response(null, {
      status: 201,
      headers: {
        // Without STENO_BASE_URL, the address is relative. Behind a proxy, the service does not know whether callers
        // use http or https.
        Location: `${config.baseUrl ?? ''}${path}/${upload.id}`,
        'Upload-Id': upload.id,
        'Upload-Offset': `${offset}`,
        ...expiryOf(upload),
      },
    })
  }

  async function append(context: Context, id: string): Promise<Response> {
    const { headers } = context.request
    requireBytesType(headers)
    requireVersion(headers)
    const { upload, offset } = await receive(context, id, readBytes(headers, 'Upload-Offset'))
    return new Response(null, { status: 204, headers: { 'Upload-Offset': `${offset}`, ...expiryOf(upload) } })
  }

  async function find({ request, caller }: Context, id: string): Promise<Response> {
    requireVersion(request.headers)
    const { upload, offset } = await store().find(caller.accountId, id)
    return new Response(null, {
      headers: {
        'Upload-Offset': `${offset}`,
        'Upload-Length': `${upload.declaredBytes}`,
        'Cache-Control': 'no-store',
        ...expiryOf(upload),
      },
    })
  }

  async function remove({ request, caller }: Context, id: string): Promise<Response> {
    requireVersion(request.headers)
    await store().remove(caller.accountId, id)
    return new Response(null, { status: 204 })
  }

  const oneUpload = { transfer: true, parse: 'none', params: uploadParam } as const

  return (
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
              'Tus-Max-Size': `${config.fileBytesMax}`,
            },
          }),
        {
          visitor: true,
          detail: about({
            summary: 'What resumable uploads can do (tus 1.0)',
            success: {
              status: 204,
              description: 'In the headers',
              headers: ['Tus-Resumable', 'Tus-Version', 'Tus-Extension', 'Tus-Max-Size'],
            },
          }),
        },
      )

      .post(path, context => create(context), {
        account: 'uploads.create',
        parse: 'none',
        headers: shapes.tusCreation,
        detail: about({
          summary: 'Create a resumable upload (tus 1.0)',
          description:
            'Upload-Id is the upload_id of POST /v1/transcribe. With Content-Type: application/offset+octet-stream the body has the first bytes.',
          success: {
            status: 201,
            description: 'Created; Location is its address',
            headers: ['Location', 'Upload-Id', ...stateHeaders],
          },
          fails: [
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
          ],
        }),
      })

      .head(`${path}/:id`, context => find(context, context.params.id), {
        ...oneUpload,
        headers: shapes.tusRequest,
        detail: about({
          summary: 'How much of a resumable upload has arrived',
          success: {
            status: 200,
            description: 'In the headers',
            headers: ['Upload-Length', ...stateHeaders],
          },
          fails: ['UPLOAD_NOT_FOUND', 'GONE', 'TUS_VERSION_NOT_SUPPORTED'],
        }),
      })

      .patch(`${path}/:id`, context => append(context, context.params.id), {
        ...oneUpload,
        headers: shapes.tusBytes,
        detail: about({
          summary: 'Send the next bytes of a resumable upload',
          requestBytes: 'application/offset+octet-stream',
          success: { status: 204, description: 'Stored', headers: stateHeaders },
          fails: appendErrors,
        }),
      })

      .delete(`${path}/:id`, context => remove(context, context.params.id), {
        ...oneUpload,
        headers: shapes.tusRequest,
        detail: about({
          summary: 'Delete a resumable upload',
          success: { status: 204, description: 'Deleted', headers: ['Tus-Resumable'] },
          fails: ['UPLOAD_NOT_FOUND', 'CONFLICT', 'GONE', 'TUS_VERSION_NOT_SUPPORTED'],
        }),
      })

      // This route is for clients behind a proxy that refuses PATCH and DELETE. Such a client sends a POST request, and
      // names the intended method in a header.
      .post(
        `${path}/:id`,
        context => {
          const method = context.request.headers.get('x-http-method-override')?.toUpperCase()
          if (method === 'PATCH') return append(context, context.params.id)
          if (method === 'DELETE') return remove(context, context.params.id)
          throw new ApiError('METHOD_NOT_ALLOWED', undefined, { Allow: 'HEAD, PATCH, DELETE, POST' })
        },
        {
          ...oneUpload,
          headers: shapes.tusOverride,
          detail: about({
            summary: 'PATCH or DELETE a resumable upload through a proxy that refuses these methods',
            success: { status: 204, description: 'As PATCH or DELETE', headers: stateHeaders },
            fails: appendErrors,
          }),
        },
      )
  )
}

const stateHeaders = ['Tus-Resumable', 'Upload-Offset', 'Upload-Expires']

function readLength(headers: Headers): number {
  if (headers.has('upload-defer-length'))
    throw new ApiError('INVALID_REQUEST', 'Upload-Defer-Length is not supported: send Upload-Length.')
  return readBytes(headers, 'Upload-Length')
}

function expiryOf({ expiresAt }: ResumableUpload): Record<string, string> {
  return { 'Upload-Expires': new Date(expiresAt).toUTCString() }
}

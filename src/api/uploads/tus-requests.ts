// Handles the requests of the tus protocol: creates, continues, finds and removes a resumable upload.

import { requireBalance } from '../../accounts/funds.ts'
import { ApiError } from '../../errors.ts'
import { contentTypeOf, plainFilename } from '../../uploads/filename.ts'
import type { Progressed, ResumableUpload } from '../../uploads/resumable.ts'
import type { Caller } from '../gate/credential.ts'
import { pauseIdleTimeout } from '../idle-timeout.ts'
import type { Service } from '../service.ts'
import { readBodyLength, readBytes, readMetadata, requireBytesType, requireVersion } from './tus.ts'

export const path = '/v1/upload/resumable'

type Context = {
  request: Request
  server: Bun.Server<unknown> | null
  set: { headers: Record<string, string | number> }
  caller: Caller
}

/**
 * Appends the body of a request to an upload. Bun's idle timeout is off during this time, because the upload has its
 * own timeout.
 */
async function receive(
  service: Service,
  { request, server, caller }: Context,
  id: string,
  offset: number,
): Promise<Progressed> {
  const body = { offset, body: request.body, bytesDeclared: readBodyLength(request.headers) }
  const resumeTimeout = pauseIdleTimeout(service.config, server, request)
  return service.uploads.resumable.append(caller.accountId, id, body).finally(resumeTimeout)
}

export async function createResumable(service: Service, context: Context): Promise<Response> {
  const { request, set, caller } = context
  const { headers } = request
  requireVersion(headers)
  const declaredBytes = readLength(headers)
  const hasBytes = headers.has('content-type')
  if (hasBytes) requireBytesType(headers)
  const filename = plainFilename(readMetadata(headers).get('filename') ?? '')
  const contentType = contentTypeOf(filename)
  requireBalance(service.db, caller.accountId, service.config.pricePerHourCents)
  set.headers['Tus-Max-Size'] = `${service.config.fileBytesMax}`
  const metadata = headers.get('upload-metadata')
  const { id } = service.uploads.resumable.create(caller.accountId, {
    filename,
    contentType,
    declaredBytes,
    metadata,
  })
  const { upload, offset } = hasBytes
    ? await receiveFirst(service, context, id)
    : await service.uploads.resumable.find(caller.accountId, id)
  return new Response(null, {
    status: 201,
    headers: {
      // Without STENO_BASE_URL, the address is relative: behind a proxy, the scheme (http or https) is unknown.
      Location: `${service.config.baseUrl ?? ''}${path}/${id}`,
      'Upload-Id': id,
      'Upload-Offset': `${offset}`,
      ...expiryOf(upload),
    },
  })
}

/**
 * Receives the first bytes of a new upload. If this fails, removes the upload, whose id the client does not know yet.
 * An upload that cannot be removed counts towards the quota until it expires.
 */
async function receiveFirst(service: Service, context: Context, id: string): Promise<Progressed> {
  try {
    return await receive(service, context, id, 0)
  } catch (error) {
    await service.uploads.resumable.remove(context.caller.accountId, id).catch(() => {})
    throw error
  }
}

export async function appendBytes(service: Service, context: Context, id: string): Promise<Response> {
  const { headers } = context.request
  requireBytesType(headers)
  requireVersion(headers)
  const { upload, offset } = await receive(service, context, id, readBytes(headers, 'Upload-Offset'))
  return new Response(null, { status: 204, headers: { 'Upload-Offset': `${offset}`, ...expiryOf(upload) } })
}

export async function findResumable(
  service: Service,
  { request, caller }: Context,
  id: string,
): Promise<Response> {
  requireVersion(request.headers)
  const { upload, offset } = await service.uploads.resumable.find(caller.accountId, id)
  return new Response(null, {
    headers: {
      'Upload-Offset': `${offset}`,
      'Upload-Length': `${upload.declaredBytes}`,
      ...(upload.metadata === null ? {} : { 'Upload-Metadata': upload.metadata }),
      'Cache-Control': 'no-store',
      ...expiryOf(upload),
    },
  })
}

export async function removeResumable(
  service: Service,
  { request, caller }: Context,
  id: string,
): Promise<Response> {
  requireVersion(request.headers)
  await service.uploads.resumable.remove(caller.accountId, id)
  return new Response(null, { status: 204 })
}

/**
 * Handles a POST request that names the intended method in a header. Clients send such a request if a proxy refuses
 * PATCH and DELETE.
 */
export async function applyOverride(service: Service, context: Context, id: string): Promise<Response> {
  const method = context.request.headers.get('x-http-method-override')?.toUpperCase()
  if (method === 'PATCH') return await appendBytes(service, context, id)
  if (method === 'DELETE') return await removeResumable(service, context, id)
  throw new ApiError('METHOD_NOT_ALLOWED', undefined, { Allow: 'HEAD, PATCH, DELETE, POST' })
}

function readLength(headers: Headers): number {
  if (headers.has('upload-defer-length'))
    throw new ApiError('INVALID_REQUEST', 'Upload-Defer-Length is not supported: send Upload-Length.')
  return readBytes(headers, 'Upload-Length')
}

function expiryOf({ expiresAt }: ResumableUpload): Record<string, string> {
  return { 'Upload-Expires': new Date(expiresAt).toUTCString() }
}

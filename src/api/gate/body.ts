// Reads the body of a request, and parses JSON. Refuses a wrong Content-Type, a compressed body, a too large body, and
// invalid JSON.

import { joinChunks } from '../../base/join-chunks.ts'
import { ApiError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { codingsIn } from '../../net/content-encoding.ts'

type BodyLimits = { bytesMax?: number; type?: 'application/json' | 'application/x-www-form-urlencoded' }

/** Checks the headers Content-Type, Content-Encoding and Content-Length. */
export function checkBodyHeaders(
  request: Request,
  { bytesMax = limits.bodyBytesMax, type: expected = 'application/json' }: BodyLimits = {},
): void {
  if (Number(request.headers.get('content-length')) > bytesMax) throw tooLarge(bytesMax)
  if (request.body === null) return
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== expected) {
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', `Send the body as ${expected}.`, { 'Accept-Post': expected })
  }
  requireUncompressed(request.headers)
}

/**
 * Throws if the body is compressed. A name in Content-Encoding that is not registered as a coding, such as `utf-8`, is
 * ignored: some clients send such a name, although their body is not encoded.
 */
export function requireUncompressed(headers: Headers): void {
  if (codingsIn(headers.get('content-encoding') ?? '').length > 0) throw encoded('body')
}

/**
 * Throws if a file has a Content-Encoding other than `identity`. The bytes of a file are stored unchanged, so the
 * stored file would be encoded. Even `aws-chunked`, which is no compression, is refused: it would damage the file.
 */
export function requirePlainBytes(headers: Headers): void {
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (coding !== '' && coding !== 'identity') throw encoded('file')
}

function encoded(what: 'body' | 'file'): ApiError {
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', `Send the ${what} as it is, without Content-Encoding.`, {
    'Accept-Encoding': 'identity',
  })
}

export async function readBody(
  request: Request,
  bytesMax: number = limits.bodyBytesMax,
): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array()
  const body = await joinChunks(request.body, bytesMax)
  if (body === null) throw tooLarge(bytesMax)
  return body
}

/**
 * Parses a body, which must be a JSON object. The schema of the endpoint validates the fields later. An object with
 * very many fields is cut. It still has more fields than any schema allows, so the validation refuses it.
 */
export function parseBody(bytes: Uint8Array): object {
  const parsed = parse(bytes)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new ApiError('INVALID_REQUEST', 'The body must be a JSON object.')
  }
  const fields = Object.entries(parsed).slice(0, limits.objectFieldsMax + 1)
  return Object.fromEntries(fields.map(([name, value]) => [name, simplified(name, value)]))
}

/** The fields of a JSON body whose values may be objects or lists of objects. */
const nestedFields = ['utterances', 'speakers', 'metadata']

/**
 * Simplifies the value of a field before Elysia validates it. Otherwise, Elysia would need seconds to report 15,000
 * invalid nested objects. The first two rules apply to the value, or to each of its items if the value is a list:
 * - In a field of `nestedFields`, an object keeps its properties. A property becomes `{}` if it is an object or a list.
 * - In any other field, an object or a list becomes `{}`.
 * - If the value has too many items, or a kept object has too many properties, the end is cut off. There are still more
 *   of them than the schema allows, so the validation refuses the value.
 */
function simplified(name: string, value: unknown): unknown {
  const simplify = nestedFields.includes(name) ? flatObject : flat
  return Array.isArray(value) ? value.slice(0, limits.editedUtterancesMax + 1).map(simplify) : simplify(value)
}

function flatObject(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).slice(0, limits.objectFieldsMax + 1)
  return Object.fromEntries(fields.map(([name, field]) => [name, flat(field)]))
}

function flat(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? {} : value
}

function parse(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) throw new ApiError('INVALID_REQUEST', 'The body is empty.')
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new ApiError('INVALID_REQUEST', 'The body is not valid JSON.')
  }
}

function tooLarge(bytesMax: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The request body is larger than ${bytesMax / 1024} KB.`)
}

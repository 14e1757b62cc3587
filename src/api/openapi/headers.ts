// The response headers in the OpenAPI document: their descriptions, and the headers of each kind of response.

import type { RouteDetail } from '../route.ts'

export function headerComponents(): object {
  return Object.fromEntries(
    Object.entries(headerTable).map(([name, { type = 'string', description }]) => [
      componentOf(name),
      { description, schema: { type } },
    ]),
  )
}

const headerTable: Record<string, { type?: 'integer'; description: string }> = {
  Link: { description: 'This document, as rel service-desc' },
  'X-Request-Id': { description: 'The id of the request in the log of the service' },
  'RateLimit-Policy': { description: 'The quotas: endpoint and ip, each with q requests in w seconds' },
  RateLimit: {
    description: 'What is left of the endpoint quota: r requests, all of them back in t seconds',
  },
  'X-RateLimit-Limit': { type: 'integer', description: 'Requests a minute on this endpoint' },
  'X-RateLimit-Remaining': { type: 'integer', description: 'Requests left in the window' },
  'X-RateLimit-Reset': { type: 'integer', description: 'Unix time at which the window is empty again' },
  'Retry-After': { type: 'integer', description: 'Seconds to wait' },
  'WWW-Authenticate': { description: 'A Bearer challenge' },
  Allow: { description: 'The methods this address takes' },
  'Accept-Post': { description: 'The media type a body must have' },
  'Accept-Encoding': { description: 'The encoding a body must have' },
  'Idempotent-Replay': { description: 'true when the reply is one that was given before' },
  'Tus-Resumable': { description: 'The version of the tus protocol' },
  'Tus-Version': { description: 'The versions of the tus protocol that are served' },
  'Tus-Extension': { description: 'The extensions of the tus protocol that are served' },
  'Tus-Max-Size': { type: 'integer', description: 'The largest file in bytes' },
  'Upload-Id': { description: 'The upload_id of POST /v1/transcribe' },
  'Upload-Offset': { type: 'integer', description: 'How many bytes have arrived' },
  'Upload-Length': { type: 'integer', description: 'The size of the file in bytes' },
  'Upload-Metadata': { description: 'What the creating request said of the file' },
  'Upload-Expires': { description: 'When the upload expires, if no more bytes arrive' },
  Location: { description: 'The address of what was created' },
  'Accept-Ranges': { description: 'bytes: parts of the file can be asked for with Range' },
  'Content-Range': { description: 'Which bytes these are, or the size of the file' },
  ETag: { description: 'Changes when the content changes' },
  'Access-Control-Allow-Origin': { description: '*: a page of any origin may read this answer' },
  'Access-Control-Expose-Headers': { description: '*: and all of its headers' },
}

/**
 * The headers that only some error responses have. A key is an HTTP status. If only one of the errors with this status
 * has the header, the key is the code of this error.
 */
export const errorHeaders: Record<number | string, string[]> = {
  401: ['WWW-Authenticate'],
  INSUFFICIENT_SCOPE: ['WWW-Authenticate'],
  405: ['Allow'],
  IDEMPOTENCY_KEY_LOCKED: ['Retry-After'],
  TUS_VERSION_NOT_SUPPORTED: ['Tus-Version'],
  415: ['Accept-Post', 'Accept-Encoding'],
  416: ['Content-Range'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/**
 * Returns the names of the headers that the responses of a route may have. `errors` has the error codes of the checks
 * before the route's handler, such as a rate limit. `errors` is missing if the route has no such check.
 */
export function answerHeaders({ rate, keyed, idempotent, errors, headers = [] }: RouteDetail): string[] {
  return [
    'Link',
    'X-Request-Id',
    ...(errors ? ['RateLimit-Policy'] : []),
    ...(rate ? ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] : []),
    ...(keyed && rate ? ['RateLimit'] : []),
    ...(idempotent ? ['Idempotent-Replay'] : []),
    ...headers,
  ]
}

export function headersOf(names: string[]): object {
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${componentOf(name)}` }]))
}

function componentOf(header: string): string {
  return header.replaceAll('-', '')
}

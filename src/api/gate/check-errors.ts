// The errors that a route can return before its handler runs, by the kind of check.

import type { RequestErrorCode } from '../../errors.ts'

export const commonErrors: RequestErrorCode[] = [
  'FORBIDDEN',
  'RATE_LIMIT_EXCEEDED',
  'METHOD_NOT_ALLOWED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
]
export const authErrors: RequestErrorCode[] = [
  'INVALID_API_KEY',
  'API_KEY_REVOKED',
  'INVALID_TOKEN',
  'SESSION_ENDED',
  'INSUFFICIENT_SCOPE',
]
export const bodyErrors: RequestErrorCode[] = [
  'INVALID_REQUEST',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
]
export const idempotencyErrors: RequestErrorCode[] = ['IDEMPOTENCY_KEY_LOCKED', 'IDEMPOTENCY_KEY_CONFLICT']

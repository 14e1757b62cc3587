// Tables of the errors in OpenAI's format, by steno's error codes. Each entry contains only the values that differ from
// the defaults in `openAiAnswer`.

import type { JobErrorCode, RequestErrorCode } from '../../errors.ts'

export type Facts = {
  status: number
  type: 'invalid_request_error' | 'insufficient_quota' | 'request_forbidden' | 'requests' | 'server_error'
  /** The error's code in the response: OpenAI's, or steno's own such as `audio_too_long`. Null if it has no code. */
  reason: string | null
  /** The field of the form that caused the error. Null if no field caused the error. */
  param: string | null
  /** True if OpenAI's clients must not send the request again automatically. */
  isFinal: boolean
}

export const requestFacts: Partial<Record<RequestErrorCode, Partial<Facts>>> = {
  INVALID_API_KEY: { reason: 'invalid_api_key' },
  API_KEY_REVOKED: { reason: 'invalid_api_key' },
  ZERO_BALANCE: { status: 429, type: 'insufficient_quota', reason: 'insufficient_quota', isFinal: true },
  INSUFFICIENT_BALANCE: {
    status: 429,
    type: 'insufficient_quota',
    reason: 'insufficient_quota',
    isFinal: true,
  },
  FORBIDDEN: { type: 'request_forbidden', reason: 'forbidden' },
  MODEL_NOT_FOUND: { reason: 'model_not_found', param: 'model' },
  NOT_FOUND: { reason: 'unknown_url' },
  METHOD_NOT_ALLOWED: { reason: 'method_not_supported' },
  REQUEST_TIMEOUT: { reason: 'request_timeout' },
  PAYLOAD_TOO_LARGE: { reason: 'file_too_large', param: 'file' },
  UNSUPPORTED_MEDIA_TYPE: { reason: 'unsupported_content_type' },
  RATE_LIMIT_EXCEEDED: { type: 'requests', reason: 'rate_limit_exceeded' },
  INTERNAL_ERROR: { type: 'server_error' },
  SERVICE_UNAVAILABLE: { type: 'server_error', reason: 'service_unavailable' },
  INSUFFICIENT_STORAGE: { type: 'server_error', reason: 'insufficient_storage', isFinal: true },
}

export const jobFacts: Record<JobErrorCode, { code: RequestErrorCode } & Partial<Facts>> = {
  URL_NOT_ACCESSIBLE: { code: 'INTERNAL_ERROR' },
  DOWNLOAD_FAILED: { code: 'INTERNAL_ERROR' },
  FILE_TOO_LARGE: { code: 'PAYLOAD_TOO_LARGE' },
  INVALID_MEDIA_FORMAT: { code: 'INVALID_REQUEST', param: 'file', reason: 'invalid_value' },
  DURATION_TOO_LONG: { code: 'INVALID_REQUEST', param: 'file', reason: 'audio_too_long' },
  INSUFFICIENT_BALANCE: { code: 'INSUFFICIENT_BALANCE' },
  PROCESSING_ERROR: { code: 'INTERNAL_ERROR', reason: 'processing_error', isFinal: true },
  CREATED_TIMEOUT: { code: 'SERVICE_UNAVAILABLE', reason: 'timeout', isFinal: true },
  DOWNLOAD_TIMEOUT: { code: 'SERVICE_UNAVAILABLE', reason: 'timeout', isFinal: true },
  PROCESSING_TIMEOUT: { code: 'INTERNAL_ERROR', reason: 'timeout', isFinal: true },
  BILLING_ERROR: { code: 'INTERNAL_ERROR' },
  INTERNAL_ERROR: { code: 'INTERNAL_ERROR' },
  CANCELLED: { code: 'CONFLICT', reason: 'cancelled', isFinal: true },
}

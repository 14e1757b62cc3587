// The errors of the endpoints with OpenAI's protocol. The status, type and code of an error are the same as
// OpenAI's.

import { ApiError, type JobErrorCode, type RequestErrorCode, requestErrors } from '../../errors.ts'
import type { JobError } from '../../jobs/events.ts'

type Facts = {
  status: number
  type: 'invalid_request_error' | 'insufficient_quota' | 'request_forbidden' | 'requests' | 'server_error'
  /** The code that OpenAI uses for this error. Null if OpenAI has no code for it. */
  reason: string | null
  /** The field of the form that caused the error. Null if no field did. */
  param: string | null
  /** True if OpenAI's clients must not send the request again automatically. */
  isFinal: boolean
}

/** An error with details that are not in the table `requestFacts`, such as the field of the form. */
export class OpenAiError extends ApiError {
  constructor(
    code: RequestErrorCode,
    message: string,
    readonly facts: Partial<Facts>,
  ) {
    super(code, message)
  }
}

/** Returns the error for an invalid field of the form. */
export function invalidField(
  param: string,
  message: string,
  reason: 'invalid_value' | 'missing_required_parameter' | 'unsupported_parameter' = 'invalid_value',
): OpenAiError {
  return new OpenAiError('INVALID_REQUEST', message, { param, reason })
}

const requestFacts: Partial<Record<RequestErrorCode, Partial<Facts>>> = {
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

const jobFacts: Record<JobErrorCode, { code: RequestErrorCode } & Partial<Facts>> = {
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

/** Returns the error of a request whose job has failed. */
export function failureOfJob({ code: jobCode, message }: JobError): OpenAiError {
  const { code, ...facts } = jobFacts[jobCode]
  return new OpenAiError(code, message, facts)
}

export function isOpenAiPath(path: string): boolean {
  return /^\/v1\/(audio|models)(\/|$)/.test(path)
}

/** Returns the status and OpenAI's code for an error code of the API. */
export function openAiFactsOf(code: RequestErrorCode): { status: number; reason: string | null } {
  const { status = requestErrors[code].status, reason = null } = requestFacts[code] ?? {}
  return { status, reason }
}

/** Converts an error to a response in OpenAI's error format. */
export function openAiAnswer(error: ApiError): {
  status: number
  headers: Record<string, string>
  body: { error: { message: string; type: string; param: string | null; code: string | null } }
} {
  const own = error instanceof OpenAiError ? error.facts : {}
  const { status, type, reason, param, isFinal } = { ...requestFacts[error.code], ...own }
  return {
    status: status ?? requestErrors[error.code].status,
    headers: { ...error.headers, ...(isFinal ? { 'X-Should-Retry': 'false' } : {}) },
    body: {
      error: {
        message: error.message,
        type: type ?? 'invalid_request_error',
        param: param ?? null,
        code: reason ?? null,
      },
    },
  }
}

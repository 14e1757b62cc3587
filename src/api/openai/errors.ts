// The errors of the endpoints with OpenAI's protocol, with OpenAI's statuses, types and codes. An error that OpenAI
// does not have may get a code of steno, such as `audio_too_long`.

import { ApiError, type RequestErrorCode, requestErrors } from '../../errors.ts'
import type { JobError } from '../../jobs/events.ts'
import { type Facts, jobFacts, requestFacts } from './error-facts.ts'

/**
 * An error with its own details in `facts`, such as the name of the wrong form field. The error code determines all
 * other details.
 */
export class OpenAiError extends ApiError {
  constructor(
    code: RequestErrorCode,
    message: string,
    readonly facts: Partial<Facts>,
  ) {
    super(code, message)
  }
}

export function invalidField(
  param: string,
  message: string,
  reason: 'invalid_value' | 'missing_required_parameter' | 'unsupported_parameter' = 'invalid_value',
): OpenAiError {
  return new OpenAiError('INVALID_REQUEST', message, { param, reason })
}

export function failureOfJob({ code: jobCode, message }: JobError): OpenAiError {
  const { code, ...facts } = jobFacts[jobCode]
  return new OpenAiError(code, message, facts)
}

export function isOpenAiPath(path: string): boolean {
  return /^\/v1\/(audio|models)(\/|$)/.test(path)
}

/** Returns the HTTP status for an error code of steno, and as `reason` the code in OpenAI's format. */
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

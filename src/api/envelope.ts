// Whatever goes wrong under a request becomes the one envelope here.

import type { ValidationError } from 'elysia'
import { errorFields, log } from '../base/log.ts'
import { ApiError, type RequestErrorCode, requestErrors } from '../errors.ts'

/** Fields whose absence or shape has a code of its own. */
const fieldCodes: Record<string, RequestErrorCode> = { '/filename': 'INVALID_FILENAME' }

export function envelope({ code, message }: ApiError, baseUrl: string): object {
  return { error: { code, message, docs_url: `${baseUrl}/docs#${code}` } }
}

/** What to answer; anything nobody meant to happen is logged and stays ours. */
export function toApiError(error: unknown, elysiaCode: string | number, requestId: string): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof Error && error.cause instanceof ApiError) return error.cause
  if (elysiaCode === 'VALIDATION') return invalid(error as ValidationError)
  if (elysiaCode === 'PARSE') return new ApiError('INVALID_REQUEST', 'The body could not be read.')
  log.error('request broke', { request_id: requestId, ...errorFields(error) })
  return new ApiError('INTERNAL_ERROR')
}

export function statusOf(code: RequestErrorCode): number {
  return requestErrors[code].status
}

type Problem = { path: string; message: string; schema: { description?: string } }

/** A sentence that names the field. A key that does not belong there is named before anything else. */
function invalid(error: ValidationError): ApiError {
  if (error.type === 'response') {
    throw new Error(`the answer does not have its declared shape: ${error.message}`)
  }
  const problems = error.all as unknown as Problem[]
  const stray = problems.find(({ message }) => message === 'Unexpected property')
  const problem = stray ?? problems[0]
  const field = problem?.path.slice(1) ?? ''
  if (stray) return new ApiError('INVALID_REQUEST', `${shown(field)} is not a known field.`)
  const code = fieldCodes[problem?.path ?? ''] ?? 'INVALID_REQUEST'
  return new ApiError(code, `${shown(field) || 'The request'} ${wanted(problem)}.`)
}

function wanted(problem: Problem | undefined): string {
  const description = problem?.schema.description
  return description ? `is not valid: ${description.replace(/\.$/, '')}` : 'is missing or not valid'
}

/** A caller's own word, echoed only as far as it is readable. */
function shown(field: string): string {
  return field.replace(/[^\x20-\x7e]/g, '?').slice(0, 100)
}

// Converts the error of a request to the JSON body of an error response.

import type { ValidationError } from 'elysia'
import { diskRefusalOf } from '../base/disk-refusal.ts'
import { errorFields, log } from '../base/log.ts'
import { refusalOf } from '../db/refusal.ts'
import { ApiError, type RequestErrorCode, requestErrors } from '../errors.ts'
import { limits } from '../limits.ts'
import { noRoom } from '../uploads/room.ts'
import { type Limited, limitsOf } from './limits-text.ts'

/** The request fields with an error code of their own. All other fields have the code INVALID_REQUEST. */
const fieldCodes: Record<string, RequestErrorCode> = { '/filename': 'INVALID_FILENAME' }

const diskError = 'The disk of this service reports an error; try again later.'

export function envelope({ code, message }: ApiError, baseUrl: string): object {
  return { error: { code, message, docs_url: `${baseUrl}/docs#${code}` } }
}

/**
 * Converts an error to an ApiError. An unexpected error becomes INTERNAL_ERROR. Logs unexpected errors, disk errors and
 * a full disk, with the fields of `about`. Throws if Elysia reports that a response of steno does not match its schema,
 * which is a bug of steno.
 */
export function toApiError(
  error: unknown,
  elysiaCode: string | number,
  about: Record<string, string>,
): ApiError {
  if (error instanceof ApiError) return error
  if (elysiaCode === 'VALIDATION') return invalid(error as ValidationError)
  const refusal = refusalOf(error) ?? diskRefusalOf(error)
  if (refusal === 'busy') {
    return new ApiError('SERVICE_UNAVAILABLE', undefined, {
      'Retry-After': `${limits.busyRetryAfterMs / 1000}`,
    })
  }
  log.error('request failed', { ...about, ...errorFields(error) })
  if (refusal === 'disk error') return new ApiError('SERVICE_UNAVAILABLE', diskError)
  return refusal === 'full' ? new ApiError('INSUFFICIENT_STORAGE', noRoom) : new ApiError('INTERNAL_ERROR')
}

export function statusOf(code: RequestErrorCode): number {
  return requestErrors[code].status
}

type FieldSchema = Limited & { type?: string; description?: string; anyOf?: FieldSchema[] }
type Problem = { path: string; message: string; value: unknown; schema: FieldSchema }

/**
 * Converts a validation error of a request to an ApiError that names the invalid field. An unknown field is reported
 * before other errors. Throws if a response is invalid.
 */
function invalid(error: ValidationError): ApiError {
  if (error.type === 'response') {
    throw new Error(`the answer does not have its declared shape: ${error.message}`)
  }
  const problems = error.all as unknown as Problem[]
  const stray = problems.find(({ message }) => message === 'Unexpected property')
  const problem = stray ?? problems[0]
  const field = nameOf(problem?.path ?? '')
  if (stray) return new ApiError('INVALID_REQUEST', `${shown(field)} is not a known field.`)
  const code = fieldCodes[problem?.path ?? ''] ?? 'INVALID_REQUEST'
  return new ApiError(code, `${shown(field) || 'The request'} ${wanted(problem)}.`)
}

/** Converts the path `/utterances/0/text` to `utterances[0].text`. */
function nameOf(path: string): string {
  return path
    .slice(1)
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
}

function wanted(problem: Problem | undefined): string {
  const fault = problem?.value === undefined ? 'is missing' : 'is not valid'
  const meaning = problem && meaningOf(problem.schema)
  return meaning ? `${fault}: ${meaning}` : fault
}

/**
 * Returns the description of a field for an error message. If the schema of the field allows several types, adds the
 * first of them and its limits.
 */
function meaningOf({ anyOf = [], description }: FieldSchema): string {
  const [given] = anyOf
  if (given) return `${meaningOf(given)} (${[given.type, limitsOf(given)].filter(Boolean).join(', ')})`
  return description?.replace(/\.$/, '') ?? ''
}

/** Returns the first 100 characters of a field name, with `?` for each character that is not printable ASCII. */
function shown(field: string): string {
  return field.replace(/[^\x20-\x7e]/g, '?').slice(0, 100)
}

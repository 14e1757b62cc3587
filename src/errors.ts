// The error codes of the API: `requestErrors` for requests that are refused or fail, and `jobErrors` for failed jobs.

/**
 * The errors of requests, in the order of their HTTP status. The response contains only the first error that is found.
 */
export const requestErrors = {
  INVALID_REQUEST: { status: 400, message: 'The request is not valid.' },
  INVALID_FILENAME: { status: 400, message: 'The filename is not valid.' },
  INVALID_MEDIA_FORMAT: { status: 400, message: 'This file extension is not supported.' },
  FILE_NOT_UPLOADED: {
    status: 400,
    message: 'No file has been sent to the upload address yet, or the file is empty.',
  },
  FILE_TOO_LARGE: { status: 400, message: 'The file is larger than the limit.' },
  UPLOAD_ALREADY_USED: { status: 400, message: 'This upload has already been used for a transcription.' },
  UPLOAD_EXPIRED: { status: 400, message: 'This upload has expired; create a new one.' },
  INVALID_API_KEY: {
    status: 401,
    message: 'The API key is missing or not valid; send it as Authorization: Bearer KEY.',
  },
  API_KEY_REVOKED: { status: 401, message: 'This API key has been revoked.' },
  INVALID_CREDENTIALS: { status: 401, message: 'The email address and password, or the API key, are wrong.' },
  INVALID_TOKEN: { status: 401, message: 'The access token is not valid or has expired.' },
  SESSION_ENDED: { status: 401, message: 'You are not signed in, or the session has ended: sign in again.' },
  INSUFFICIENT_BALANCE: { status: 402, message: 'The available balance does not cover this transcription.' },
  ZERO_BALANCE: { status: 402, message: 'The balance is zero; add funds first.' },
  FORBIDDEN: { status: 403, message: 'This request is not allowed.' },
  INSUFFICIENT_SCOPE: { status: 403, message: 'The access token does not allow this.' },
  UPLOAD_NOT_FOUND: { status: 404, message: 'There is no such upload.' },
  TRANSCRIPTION_NOT_FOUND: { status: 404, message: 'There is no such transcription.' },
  MODEL_NOT_FOUND: { status: 404, message: 'There is no such model.' },
  DELIVERY_NOT_FOUND: { status: 404, message: 'There is no such delivery.' },
  VOICE_NOT_FOUND: { status: 404, message: 'There is no such voice.' },
  NOT_FOUND: { status: 404, message: 'There is nothing at this address.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This address does not take that method.' },
  REQUEST_TIMEOUT: { status: 408, message: 'The bytes of the request stopped coming.' },
  CONFLICT: { status: 409, message: 'The present state does not allow this.' },
  IDEMPOTENCY_KEY_LOCKED: {
    status: 409,
    message: 'The first request with this Idempotency-Key is still running.',
  },
  GONE: { status: 410, message: 'What was here has been removed.' },
  PRECONDITION_FAILED: {
    status: 412,
    message: 'The transcription was edited since you read it; read it again.',
  },
  TUS_VERSION_NOT_SUPPORTED: { status: 412, message: 'Send Tus-Resumable: 1.0.0.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The request body is too large.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'The body has a media type or an encoding that is not accepted here.',
  },
  RANGE_NOT_SATISFIABLE: { status: 416, message: 'The file is shorter than this range.' },
  IDEMPOTENCY_KEY_CONFLICT: { status: 422, message: 'This Idempotency-Key was used with a different body.' },
  RATE_LIMIT_EXCEEDED: { status: 429, message: 'Too many requests; wait before the next one.' },
  INTERNAL_ERROR: { status: 500, message: 'Something went wrong here; it is safe to try again.' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'The service is busy for a moment; it is safe to try again.' },
  INSUFFICIENT_STORAGE: { status: 507, message: 'There is no room for more media.' },
} as const

export const jobErrors = {
  URL_NOT_ACCESSIBLE: 'The address could not be read.',
  DOWNLOAD_FAILED: 'The download was interrupted.',
  FILE_TOO_LARGE: 'The file is larger than the limit.',
  INVALID_MEDIA_FORMAT: 'The file is not audio or video that can be read.',
  DURATION_TOO_LONG: 'The audio is longer than the limit.',
  INSUFFICIENT_BALANCE: 'The available balance does not cover this transcription.',
  PROCESSING_ERROR: 'The transcription failed after all retries.',
  CREATED_TIMEOUT: 'The job waited too long to be prepared.',
  DOWNLOAD_TIMEOUT: 'The download took too long.',
  PROCESSING_TIMEOUT: 'The transcription took too long.',
  BILLING_ERROR: 'The charge could not be settled; nothing was charged. It is safe to try again.',
  INTERNAL_ERROR: 'A step on our side failed; it is safe to try again.',
  CANCELLED: 'The transcription was cancelled.',
} as const

export type RequestErrorCode = keyof typeof requestErrors
export type JobErrorCode = keyof typeof jobErrors

/** The error of a request, or of the call of an MCP tool, that is refused or fails. */
export class ApiError extends Error {
  constructor(
    readonly code: RequestErrorCode,
    message: string = requestErrors[code].message,
    readonly headers: Record<string, string> = {},
  ) {
    super(message)
    this.name = 'ApiError'
  }
}

/**
 * The error of a job that fails, or of a voice print that cannot be made. The caller may see its message, which must
 * not contain a path, a stack trace or a secret.
 */
export class JobFailure extends Error {
  constructor(
    readonly code: JobErrorCode,
    message: string = jobErrors[code],
  ) {
    super(message)
    this.name = 'JobFailure'
  }
}

/** The failure of a job whose media file the server no longer has. */
export class MediaLost extends JobFailure {
  constructor() {
    super('INTERNAL_ERROR', 'The media file is no longer on the server; start the transcription again.')
  }
}

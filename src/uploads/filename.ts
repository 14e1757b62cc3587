// Checks the filename of an upload, and finds the Content-Type for its extension.

import { ApiError } from '../errors.ts'
import { limits } from '../limits.ts'
import { contentTypes, isExtension } from '../media/formats.ts'

const forbidden = /[^\x20-\x7e]|[/\\<>"'`]/u
const rule = 'it may have printable ASCII only, without / \\ < > " \' and `'

/** Returns the Content-Type for a filename. Throws an ApiError if the name or its extension is not accepted. */
export function contentTypeOf(filename: unknown): string {
  if (typeof filename !== 'string' || filename === '')
    throw new ApiError('INVALID_FILENAME', 'filename is missing.')
  if (filename.length > limits.filenameLengthMax) {
    throw new ApiError('INVALID_FILENAME', `filename is longer than ${limits.filenameLengthMax} characters.`)
  }
  const [bad] = forbidden.exec(filename) ?? []
  if (bad) {
    const code = bad.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    throw new ApiError('INVALID_FILENAME', `filename has the character U+${code}; ${rule}.`)
  }
  const [, extension] = /[^.].*\.([^.]+)$/.exec(filename) ?? []
  if (!extension) throw new ApiError('INVALID_FILENAME', 'filename has no extension.')
  const known = extension.toLowerCase()
  if (!isExtension(known)) {
    const reason = `.${extension} is not one of the supported extensions; GET /v1 lists them.`
    throw new ApiError('INVALID_MEDIA_FORMAT', reason)
  }
  return contentTypes[known]
}

/**
 * Returns the filename with `_` in place of each character that `contentTypeOf` refuses. Used for resumable uploads:
 * their clients send the name that the file has on the user's disk, which may contain any character.
 */
export function plainFilename(filename: string): string {
  return filename.replace(new RegExp(forbidden, 'gu'), '_')
}

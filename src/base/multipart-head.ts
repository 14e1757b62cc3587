// Reads the head (the header lines) of a part of a multipart form: the name of the part, and the name of the file in
// the part.

import { limits } from '../limits.ts'

/** The error for a request body that is not a valid multipart form. */
export class MultipartError extends Error {}

/** Returns the boundary from a Content-Type header. Returns null if the header does not describe a multipart form. */
export function boundaryOf(contentType: string): string | null {
  const [, quoted, token] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"((?:[^"\\]|\\.)+)"|([^\s;"]+))\s*(?:;|$)/i.exec(
      contentType,
    ) ?? []
  const boundary = quoted?.replace(/\\(.)/g, '$1') ?? token ?? null
  return boundary !== null && boundary.length <= limits.formBoundaryLengthMax ? boundary : null
}

export function parseHead(head: string): Pick<Part, 'name' | 'filename'> {
  const disposition = /^content-disposition\s*:\s*form-data\s*(;.*)$/im.exec(head)?.[1] ?? ''
  const name = parameterOf(disposition, 'name')
  if (name === null) throw new MultipartError('A part has no Content-Disposition with a name.')
  return { name, filename: parameterOf(disposition, 'filename') ?? parameterOf(disposition, 'filename\\*') }
}

/**
 * Returns the value of a parameter of the header Content-Disposition. The value may be in quotes. A quote inside the
 * value is written as `\"` or as `%22`. Returns null if the header does not have this parameter.
 */
function parameterOf(disposition: string, name: string): string | null {
  const pattern = new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]*))`, 'i')
  const [, quoted, token] = pattern.exec(disposition) ?? []
  return quoted?.replace(/\\(["\\])/g, '$1').replaceAll('%22', '"') ?? token ?? null
}

export type Part = {
  name: string
  /** The name of the file, as the sender of the form gave it. Null if the part is a plain field. */
  filename: string | null
  /** The bytes of the part. The caller must read all these bytes before the caller requests the next part. */
  body: AsyncIterable<Uint8Array>
}

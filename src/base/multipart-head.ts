// Reads the head (the header lines) of one part of a multipart form: the name of the part and its file name.

import { limits } from '../limits.ts'
import { percentDecoded } from './percent.ts'

/** The error for a request body that is not a valid multipart form. */
export class MultipartError extends Error {}

/**
 * Returns the boundary from a Content-Type header. Returns null if the type is not multipart/form-data, or if the
 * boundary is missing or too long.
 */
export function boundaryOf(contentType: string): string | null {
  const [, quoted, token] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"((?:[^"\\]|\\.)+)"|([^\s;"]+))\s*(?:;|$)/i.exec(
      contentType,
    ) ?? []
  const boundary = quoted?.replace(/\\(.)/g, '$1') ?? token ?? null
  return boundary !== null && boundary.length <= limits.formBoundaryLengthMax ? boundary : null
}

const ascii = /^\p{ASCII}*$/u

export function parseHead(head: string): Pick<Part, 'name' | 'filename'> {
  const disposition = /^content-disposition\s*:\s*form-data\s*(;.*)$/im.exec(head)?.[1] ?? ''
  const parameters = parametersOf(disposition)
  const name = parameters.get('name')
  if (name === undefined) throw new MultipartError('A part has no Content-Disposition with a name.')
  return { name, filename: filenameIn(parameters) }
}

/**
 * Returns the parameters of the header Content-Disposition, by their names in lower case. In a quoted value, a quote is
 * `\"` or `%22`. The first of repeated parameters counts.
 */
function parametersOf(disposition: string): Map<string, string> {
  const parameters = new Map<string, string>()
  const pattern = /;\s*([^\s;=]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/g
  for (const [, name = '', quoted, token = ''] of disposition.matchAll(pattern)) {
    const key = name.toLowerCase()
    const value = quoted?.replace(/\\(["\\])/g, '$1').replaceAll('%22', '"') ?? token
    if (!parameters.has(key)) parameters.set(key, value)
  }
  return parameters
}

/**
 * Returns the name of the file from `filename*` (RFC 8187), such as `utf-8''%C3%BC.mp3`, or else from `filename`.
 * Without `filename`, an invalid `filename*` is returned unchanged.
 */
function filenameIn(parameters: ReadonlyMap<string, string>): string | null {
  const extended = parameters.get('filename*') ?? null
  const plain = parameters.get('filename')
  const encoded = /^utf-8'[^']*'(.*)$/is.exec(extended ?? '')?.[1]
  const decoded = encoded === undefined ? null : percentDecoded(encoded)
  return decoded ?? (plain === undefined ? extended : decodedName(plain))
}

/**
 * Decodes a name that the sender has percent-encoded, as Python's aiohttp does. Other senders do not encode, so a name
 * with percent signs may also be the real name. The name is therefore decoded only if its decoded form has characters
 * outside ASCII: `a%20b.mp3` is returned unchanged.
 */
function decodedName(name: string): string {
  const decoded = percentDecoded(name) ?? name
  return ascii.test(name) && !ascii.test(decoded) ? decoded : name
}

export type Part = {
  name: string
  /** The name of the file, as the sender gave it. Null if the part is a plain field. */
  filename: string | null
  /** The bytes of the part. The caller must read all or none of them before it requests the next part. */
  body: AsyncIterable<Uint8Array>
}

// Reads the encoding, length, version and range of a file from the headers of a response.

import { codingsIn } from './content-encoding.ts'
import type { Answer } from './fetch.ts'

export function codingsOf(answer: Answer): string[] {
  return codingsIn(answer.headers['content-encoding'])
}

/** Returns the Content-Length, or null if there is none. With a Transfer-Encoding, it has no meaning (RFC 9112). */
export function lengthOf({ headers }: Answer): number | null {
  const length = headers['content-length']
  return length === undefined || headers['transfer-encoding'] !== undefined ? null : Number(length)
}

export function rangeOf(answer: Answer): { start: number; total: number | null } | null {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(answer.headers['content-range'] ?? '') ?? []
  if (start === undefined) return null
  return { start: Number(start), total: total === '*' ? null : Number(total) }
}

/**
 * Returns the value for the request header If-Range: the strong ETag of the response, or else its Last-Modified.
 * Returns null if the ETag is weak, or if the response has neither header.
 */
export function versionOf(answer: Answer): string | null {
  const { etag } = answer.headers
  if (etag !== undefined) return etag.startsWith('"') ? etag : null
  return answer.headers['last-modified'] ?? null
}

/** Returns true if the response to a request with If-Range names the version `version`, or no version at all. */
export function hasVersion(answer: Answer, version: string | null): boolean {
  const { etag, 'last-modified': changed } = answer.headers
  const stated = version?.startsWith('"') ? etag : changed
  return stated === undefined || stated === version
}

// Reads what the headers of an answer say about a file: its encoding, its length, its version, and the range in the
// body.

import type { Answer } from './fetch.ts'

export function encodingOf(answer: Answer): string {
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() ?? ''
  return encoding === 'identity' ? '' : encoding
}

export function lengthOf(answer: Answer): number | null {
  const length = answer.headers['content-length']
  return length === undefined ? null : Number(length)
}

export function rangeOf(answer: Answer): { start: number; total: number | null } | null {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(answer.headers['content-range'] ?? '') ?? []
  if (start === undefined) return null
  return { start: Number(start), total: total === '*' ? null : Number(total) }
}

/**
 * Returns the value for the header If-Range: a strong ETag, or Last-Modified if there is no ETag. Returns
 * null if there is neither.
 */
export function versionOf(answer: Answer): string | null {
  const { etag } = answer.headers
  if (etag !== undefined) return etag.startsWith('"') ? etag : null
  return answer.headers['last-modified'] ?? null
}

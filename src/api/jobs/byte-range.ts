// Parses the request header Range (RFC 9110, section 14).

/** A part of a file, from the first byte `start` up to the byte before `end`. */
export type ByteRange = { start: number; end: number }

/**
 * Returns the requested byte range of a file of `size` bytes. Returns `whole` if the header is missing, invalid, or has
 * several ranges. Returns `unsatisfiable` if the range contains no byte of the file.
 */
export function readRange(header: string | null, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  // For `whole`, the response contains the whole file, but Bun reads the header Range again. If Bun understood a form
  // that this expression does not match, it could answer 416 by itself, without the JSON error of the API. The
  // expression therefore matches every form that Bun understands: any case, spaces, long numbers.
  const [, first = '', last = ''] = /^bytes\s*=\s*(?:(\d+)\s*)?-\s*(\d*)$/i.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return 'whole'
  if (first === '')
    return size > 0 && Number(last) > 0
      ? { start: Math.max(0, size - Number(last)), end: size }
      : 'unsatisfiable'
  if (last !== '' && Number(last) < Number(first)) return 'whole'
  if (Number(first) >= size) return 'unsatisfiable'
  return { start: Number(first), end: last === '' ? size : Math.min(size, Number(last) + 1) }
}

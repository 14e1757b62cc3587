// Parses the request header Range (RFC 9110, section 14).

/**
 * A part of a file. `start` is the position of the first byte of the part. `end` is the position of the first byte
 * after the part.
 */
export type ByteRange = { start: number; end: number }

/**
 * Returns the byte range that the header requests from a file of `size` bytes. Returns `whole` if the header is
 * missing, invalid, or has several ranges, because the whole file is then sent. Returns `unsatisfiable` if the range
 * contains no byte of the file.
 *
 * When the handler sends the whole file, Bun reads this header itself and may send only a part. So this function must
 * understand every form of the header that Bun understands: any case of the letters, spaces, and long numbers.
 */
export function readRange(header: string | null, size: number): ByteRange | 'whole' | 'unsatisfiable' {
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

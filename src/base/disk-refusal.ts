// Recognises errors with which the operating system refuses to read or write a file because of the disk.

const refusals: Record<string, 'full' | 'disk error'> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EIO: 'disk error',
  EROFS: 'disk error',
}

/**
 * Returns `full` if the disk or a quota of the operating system is full. Returns `disk error` if the disk is damaged or
 * read-only. Returns null for any other error.
 */
export function diskRefusalOf(error: unknown): 'full' | 'disk error' | null {
  return refusals[Object(error).code] ?? null
}

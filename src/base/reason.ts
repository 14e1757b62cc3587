/** Returns the message of an error. Converts any other thrown value to text. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Returns only the first line of the message of an error, because native libraries append a stack to their
 * messages.
 */
export function firstLineOf(error: unknown): string {
  return reasonOf(error).replace(/\n.*/s, '')
}

/**
 * Returns the message of an error. Converts any other thrown value to text. When a resource of a `using` declaration
 * cannot be released after an error, the message is that of the first error.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof SuppressedError) return reasonOf(error.suppressed)
  return error instanceof Error ? error.message : String(error)
}

/**
 * Returns only the first line of the message of an error, because native libraries append a stack to their
 * messages.
 */
export function firstLineOf(error: unknown): string {
  return reasonOf(error).replace(/\n.*/s, '')
}

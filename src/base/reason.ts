/**
 * Returns the message of an error, or the text of any other thrown value. If a block threw an error, and a `using`
 * declaration of this block then failed to release its resource, returns the message of the first error.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof SuppressedError) return reasonOf(error.suppressed)
  return error instanceof Error ? error.message : String(error)
}

/** Returns the first line of an error's message. Native libraries append a stack to their messages. */
export function firstLineOf(error: unknown): string {
  return reasonOf(error).replace(/\n.*/s, '')
}

/**
 * Returns the error that a block threw. If a `using` declaration of the block also fails to release its resource,
 * JavaScript throws a SuppressedError without a message, which contains the error of the block.
 */
export function firstErrorOf(error: unknown): unknown {
  return error instanceof SuppressedError ? firstErrorOf(error.suppressed) : error
}

/** Returns the message of an error, or the text of any other thrown value. */
export function reasonOf(error: unknown): string {
  const first = firstErrorOf(error)
  return first instanceof Error ? first.message : String(first)
}

/** Returns the first line of an error's message. Native libraries append a stack to their messages. */
export function firstLineOf(error: unknown): string {
  return reasonOf(error).replace(/\n.*/s, '')
}

/** Returns the message of any thrown value. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the first line of the message: native libraries append a stack. */
export function firstLineOf(error: unknown): string {
  return reasonOf(error).replace(/\n.*/s, '')
}

/** The message of whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Without the stack that native libraries append to their messages. */
export function firstLineOf(error: unknown): string {
  return reasonOf(error).replace(/\n.*/s, '')
}

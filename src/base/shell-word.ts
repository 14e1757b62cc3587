/**
 * Returns a text as one word of a shell command, for a command that steno suggests. A text with characters that a shell
 * could treat specially, such as a path with a space, is quoted.
 */
export function shellWord(text: string): string {
  return /^[\p{L}\p{N}/._@:+-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

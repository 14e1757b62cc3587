/** Returns a text as one word of a suggested shell command. Quotes a text with special characters, such as a space. */
export function shellWord(text: string): string {
  return /^[\p{L}\p{N}/._@:+-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

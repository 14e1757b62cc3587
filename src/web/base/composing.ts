/**
 * Returns true if the key belongs to an input method, for example for Chinese or Japanese. Enter then accepts the
 * proposed characters, and Escape discards them. For this Enter or Escape, Safari sets only the key code 229.
 */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229
}

/**
 * Returns true if the key press belongs to an input method, for example for Chinese or Japanese. The page must then
 * ignore it: Enter accepts the characters that the input method proposes, and Escape discards them. For some of these
 * key presses, Safari sets only the key code 229.
 */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229
}

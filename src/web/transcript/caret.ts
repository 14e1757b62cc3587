// The caret in a text field.

/**
 * Returns the text of the field up to the caret. With a selection, returns the text up to the point where the person
 * began to select. If this point is not in the field, returns the whole text.
 */
export function textBeforeCaret(span: HTMLElement): string {
  const selection = getSelection()
  if (!selection?.anchorNode || !span.contains(selection.anchorNode)) return span.textContent ?? ''
  const range = document.createRange()
  range.selectNodeContents(span)
  range.setEnd(selection.anchorNode, selection.anchorOffset)
  return range.toString()
}

/**
 * Keeps the height of an element in a CSS variable until the returned function is called. The style sheet uses the
 * variable so that this element does not cover others. `--bar` is for the player, `--bars` for the bars above the text,
 * `--passage` for the toolbar of a selected passage, and `--messages` for the short messages.
 */
export function reserveSpace(
  element: HTMLElement,
  name: '--bar' | '--bars' | '--passage' | '--messages',
): () => void {
  const { style } = document.documentElement
  const resized = new ResizeObserver(() => style.setProperty(name, `${element.offsetHeight}px`))
  resized.observe(element)
  return () => {
    resized.disconnect()
    style.removeProperty(name)
  }
}
